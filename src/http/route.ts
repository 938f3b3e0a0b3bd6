import type { IncomingMessage, ServerResponse } from 'node:http';
import { bytesText } from '../util/text.js';
import { flatHeaders } from './body.js';

type RefusalReason =
  | 'host'
  | 'browser'
  | 'no-route'
  | 'method'
  | 'media-type'
  | 'encoding'
  | 'too-large'
  | 'malformed'
  | 'slow'
  | 'busy'
  | 'aborted'
  | 'failed';

/** Why a request was refused before a handler answered it. */
export class Denial {
  constructor(
    /** The status to send; 0 if the client has disconnected. */
    readonly status: number,
    readonly reason: RefusalReason,
    /** The reason, as one clause. */
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  static tooLarge(maxBody: number): Denial {
    return new Denial(413, 'too-large', `its body is larger than ${bytesText(maxBody)}`);
  }

  static noRoute(): Denial {
    return new Denial(404, 'no-route', 'no route for this path');
  }

  /** The reason as events have it. */
  get refusal(): string {
    return this.reason === 'no-route' ? 'wrong-address' : this.detail;
  }
}

/** How a request arrived. */
interface Surroundings {
  readonly response?: ServerResponse | undefined;
  /** The path below which the server serves its routes. */
  readonly basePath?: string | undefined;
}

/** The head of a request that arrived; empty if it could not be read. Its texts are not sanitized yet. */
export class Incoming {
  readonly method: string;
  /** The path and the query, without the base path of the server. */
  readonly target: string;
  /** The target without its query. */
  readonly path: string;
  /** Whether it is below the base path; otherwise no route serves it. */
  readonly isBelowBase: boolean;
  /** Lower-case names; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The host that the sender names: in the target if it is a whole URL, else in the Host header (RFC 9112, 3.2.2). */
  readonly host: string | undefined;

  constructor(
    {
      method = '',
      url = '',
      headers = {},
    }: Partial<Pick<IncomingMessage, 'method' | 'url' | 'headers'>> = {},
    private readonly around: Surroundings = {},
  ) {
    const { basePath = '' } = around;
    const { authority = headers.host, target } = splitTarget(url);
    this.host = authority;
    this.method = method;
    this.isBelowBase = basePath === '' || target.startsWith(`${basePath}/`);
    this.target = this.isBelowBase ? target.slice(basePath.length) : target;
    this.path = this.target.split('?', 1)[0] ?? '';
    this.headers = flatHeaders(headers);
  }

  /** The target without anything that looks like a token: it could be nearly a valid one. */
  get maskedTarget(): string {
    return this.target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…');
  }

  /** The base URL at which the sender reaches us; the guard has checked `Host`. */
  get base(): string {
    return `http://${this.host}${this.around.basePath ?? ''}`;
  }

  /** Calls back once if the connection closes before the answer is sent. */
  onGone(callback: () => void): void {
    const { response } = this.around;
    response?.once('close', () => {
      if (!response.writableEnded) callback();
    });
  }
}

const ABSOLUTE = /^https?:\/\/(?<authority>[^/?#]*)(?<rest>.*)$/i;

/** Splits a request target that may be a whole URL (absolute-form; RFC 9112, 3.2.2) into its authority, and its path and query. */
function splitTarget(url: string): { readonly authority?: string; readonly target: string } {
  const { authority, rest = '' } = ABSOLUTE.exec(url)?.groups ?? {};
  if (authority === undefined) return { target: url };
  return { authority, target: rest.startsWith('/') ? rest : `/${rest}` };
}

export interface Answer {
  readonly status: number;
  /** A list is sent as several headers. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** Used instead of `body`: pieces are produced only as fast as the client reads. */
  readonly pieces?: Iterable<string | Uint8Array> | AsyncIterable<Uint8Array>;
  /** Called after the answer is written, even if the client has disconnected. For work that must follow the answer. */
  readonly sent?: () => void;
}

/** A handler's answer; `'reset'` resets the connection instead. */
export type Reply = Answer | 'reset';

export interface Route {
  readonly name: string;
  /** `any` matches all methods that no earlier route matches. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'any';
  /** Whether the route serves this path (without the query). */
  readonly serves: (path: string) => boolean;
  /**
   * `json` and `form` require their `Content-Type`, `json?` only with a body; `anything` reads any body; `nothing` leaves it unread.
   */
  readonly accepts: 'json' | 'json?' | 'form' | 'anything' | 'nothing';
  /** Allows browsers that open the page directly or from the same origin. Other routes refuse browsers. */
  readonly browsers?: 'same-origin';
  /** Origins whose web pages may send requests. */
  readonly origins?: ReadonlySet<string>;
  /** Answers from the head alone, before the body is checked. */
  readonly first?: (incoming: Incoming) => Reply | undefined;
  readonly handle: (incoming: Incoming, body: Uint8Array) => Reply | Promise<Reply>;
}

/** A route at exactly one path. */
export function routeAt(
  path: string,
  method: Route['method'],
  accepts: Route['accepts'],
  handle: Route['handle'],
): Route {
  return { name: path, method, accepts, serves: asked => asked === path, handle };
}
