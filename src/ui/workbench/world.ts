import type { Book } from '../../exchange/book.js';
import type { Toolset } from '../../protocol/toolset.js';
import type { Redactor } from '../../text/redact.js';

/** A tool server of this session, however far it is. */
export interface Server {
  /** Ours, never the server's. */
  readonly id: string;
  /** As it was named: a URL, a command, the demo. */
  readonly about: string;
  /** By `.infinity/rap.json`, and not by a person. */
  readonly isConfigured: boolean;
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

/** How many configured toolsets define each operation; of several none is used (RT-TOOLSET). A person knows which one they opened. */
export function definitionsIn(servers: readonly Server[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { isConfigured, state } of servers)
    if (isConfigured && state.kind === 'ready')
      for (const { name } of state.toolset.tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
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
  /** As they are named: those that ever told this session what they offer, be they taken out since. */
  readonly names: ReadonlySet<string>;
  /** The first is this session. */
  readonly volumes: readonly Volume[];
  /** The id of the server that a call of this session was made by, or was not, by a no; null of any other call. */
  readonly serverOf: (key: string) => string | null;
  /** Whether the arguments of a call of this session went out without validation. */
  readonly isUnvalidated: (key: string) => boolean;
}
