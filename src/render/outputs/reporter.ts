import type { Event } from '../../events/events.js';
import type { Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import type { FailureCode } from '../failure.js';

/** Something that could not be done, in the shape of an error of ours. */
export interface Trouble {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly faults?: readonly string[];
}

/** What a reporter tells at the end. */
export interface Ending {
  readonly history: History;
  readonly exchange: Exchange | undefined;
  /** What the command itself has to warn of: withheld headers, a wildcard bind, arguments that were not checked. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

/** One way to tell what happens: as it happens, as soon as the call is settled, and at the end. */
export interface Reporter {
  event?(event: Event): void;
  /** The result is here; notices may still go out. */
  settled?(ending: Ending): Promise<void>;
  /** Lets somebody else use the terminal for a while. */
  aside?<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Asks the person at the terminal: the index that was picked, the default where the question was dismissed, null where the signal
   * called it off. Questions that come meanwhile are asked one after another.
   */
  choose?(question: UserChoice, signal: AbortSignal): Promise<number | null>;
  /** Leaves the terminal in order: before `end`, and where a fault of ours leaves nothing to tell. */
  close?(): Promise<void>;
  end(ending: Ending): Promise<void>;
}

/** Where reporters write. */
export interface Paper {
  readonly stdout: NodeJS.WritableStream;
  /** For people; no secret gets through. */
  readonly stderr: { write(text: string): unknown };
  /** `-q`: no warnings. */
  readonly quiet: boolean;
}
