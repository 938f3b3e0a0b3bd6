import type { IncomingHttpHeaders } from 'node:http';

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

/** A request that no handler answered. Its texts are foreign and not yet made visible. */
export interface Refusal {
  /** The status sent; 0 if the peer was gone. */
  readonly status: number;
  readonly reason: RefusalReason;
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** The reason, one clause. */
  readonly detail: string;
}

export class Denial {
  constructor(
    readonly status: number,
    readonly reason: RefusalReason,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** A request that passed the guard, completely read. */
export interface Incoming {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly remote: string;
  /** Calls back once if the connection closes before the answer is sent. */
  readonly onGone?: (callback: () => void) => void;
}

export type Head = Pick<Incoming, 'method' | 'target' | 'headers'>;

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Instead of `body`: pieces that are produced as fast as the peer reads. */
  readonly pieces?: Iterable<Uint8Array>;
  /** Called when the answer was written, also if the peer is gone: work that must follow the answer starts here. */
  readonly sent?: () => void;
}

/** A handler's answer; `'reset'` resets the connection instead. */
export type Reply = Answer | 'reset';

export interface Route {
  readonly name: string;
  /** `any`: all methods that no earlier route takes. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS' | 'any';
  /** Gets the path without the query. */
  readonly serves: (path: string) => boolean;
  /**
   * `json` and `form` require their `Content-Type`, `json?` only with a body; `anything` reads any body; `nothing` leaves it unread.
   */
  readonly accepts: 'json' | 'json?' | 'form' | 'anything' | 'nothing';
  /** A page that browsers may open, directly or from our own origin. Other routes refuse browsers. */
  readonly browsers?: 'same-origin';
  /** Web pages of these origins may send requests. */
  readonly origins?: ReadonlySet<string>;
  /** Answers from the head alone, before the body is judged. */
  readonly first?: (head: Head) => Answer | undefined;
  readonly handle: (incoming: Incoming) => Reply | Promise<Reply>;
}
