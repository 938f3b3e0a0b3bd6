import type { IncomingHttpHeaders } from 'node:http';
import { bytesText } from '../util/text.js';

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

/** A request that was refused before a handler answered it. Its texts come from the client and are not sanitized yet. */
export interface Refusal {
  /** The status sent; 0 if the client had disconnected. */
  readonly status: number;
  readonly reason: RefusalReason;
  readonly method?: string;
  readonly target?: string;
  readonly headers?: IncomingHttpHeaders;
  /** The reason, as one clause. */
  readonly detail: string;
}

export class Denial {
  constructor(
    readonly status: number,
    readonly reason: RefusalReason,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  static tooLarge(maxBody: number): Denial {
    return new Denial(413, 'too-large', `its body is larger than ${bytesText(maxBody)}`);
  }
}

/** A completely read request that passed the guard. */
export interface Incoming {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly remote: string;
  /** Calls back once if the connection closes before the answer is sent. */
  readonly onGone?: (callback: () => void) => void;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Used instead of `body`: pieces are produced only as fast as the client reads. */
  readonly pieces?: Iterable<Uint8Array>;
  /** Called after the answer is written, even if the client has disconnected. For work that must follow the answer. */
  readonly sent?: () => void;
}

/** A handler's answer; `'reset'` resets the connection instead. */
export type Reply = Answer | 'reset';

export interface Route {
  readonly name: string;
  /** `any` matches all methods that no earlier route matches. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS' | 'any';
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
  readonly first?: (head: Pick<Incoming, 'method' | 'target' | 'headers'>) => Answer | undefined;
  readonly handle: (incoming: Incoming) => Reply | Promise<Reply>;
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
