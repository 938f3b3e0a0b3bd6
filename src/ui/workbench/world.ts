import type { Book } from '../../exchange/book.js';
import type { Toolset } from '../../protocol/toolset.js';
import type { Redactor } from '../../text/redact.js';

/** A tool server of this session, however far it is. */
export interface Server {
  /** Ours, never the server's. */
  readonly id: string;
  /** As it was named: a URL, a command, the demo. */
  readonly about: string;
  readonly state:
    | { readonly kind: 'loading' }
    /** A command that a configuration names is started only once a person allows it. */
    | { readonly kind: 'asleep'; readonly command: string }
    | {
        readonly kind: 'ready';
        readonly base: string;
        readonly toolset: Toolset;
        readonly notes: readonly string[];
      }
    | {
        readonly kind: 'failed';
        readonly message: string;
        /** Single ones, each with its place, where there is more than one to tell. */
        readonly faults: readonly string[];
        readonly hint: string | null;
      };
}

/** Events that can be looked at: this session's own, or those of a transcript that was opened. */
export interface Volume {
  /** Of this volume alone, and of the same file when it is opened again. */
  readonly id: number;
  /** `this session`, or the name of the file. */
  readonly name: string;
  readonly book: Book;
  readonly isLive: boolean;
  /** Of whatever is not for the human to read: it knows the credentials of the session, and what is secret in these events (threats, row 25). */
  readonly redactor: Redactor;
}

/** What there is to see. Its parts change meanwhile; who changes them says so. */
export interface World {
  readonly servers: readonly Server[];
  /** The first is this session. */
  readonly volumes: readonly Volume[];
  /** The id of the server that a call of this session was made by, or was not, by a no; null of any other call. */
  readonly serverOf: (key: string) => string | null;
}
