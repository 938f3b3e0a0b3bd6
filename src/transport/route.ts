import type { IncomingHttpHeaders } from 'node:http';

/** A request that passed the guard, read to its end. */
export interface Incoming {
  readonly method: string;
  /** The raw path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** The peer's address. */
  readonly remote: string;
  /** Calls back where the connection ends before it was answered; once, and not at all where it is. */
  readonly onGone?: (callback: () => void) => void;
}

/** What there is of a request before its body. */
export type Head = Pick<Incoming, 'method' | 'target' | 'headers'>;

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** In the place of `body`: a long one, of which each piece is made once the peer has read those before it. */
  readonly pieces?: Iterable<Uint8Array>;
  /** Called once the answer was handed to the connection, also where nobody reads it any more: what is to follow it begins here. */
  readonly sent?: () => void;
}

/** What a handler gives back; `'reset'` breaks the connection without an answer. */
export type Reply = Answer | 'reset';

export interface Route {
  readonly name: string;
  /** `any` for those that no route before takes. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS' | 'any';
  /** Asked with the path without the query; may do a constant-time lookup. */
  readonly serves: (path: string) => boolean;
  /**
   * `json` and `form` demand their `Content-Type`, `json?` only where there is a body; `anything` reads what there is; with `nothing` a
   * body is left unread.
   */
  readonly accepts: 'json' | 'json?' | 'form' | 'anything' | 'nothing';
  /** A page for people: a browser may visit it, by hand or from our own origin. Other routes refuse every browser. */
  readonly browsers?: 'same-origin';
  /** Pages of these origins may send requests. */
  readonly origins?: ReadonlySet<string>;
  /** Answers by the head alone, before anything is said of the body: of whoever is to learn nothing else. */
  readonly first?: (head: Head) => Answer | undefined;
  readonly handle: (incoming: Incoming) => Reply | Promise<Reply>;
}
