import type { Event, ExitedEvent, LoadedEvent } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History as FoldedHistory } from '../events/history.js';
import type { Thread } from '../events/threads.js';

/** The state folded from a list of events. */
export interface History {
  /** Calls by key, oldest first. They are values: a call that changes is replaced. */
  readonly exchanges: ReadonlyMap<string, Exchange>;
  /** Conversations by id (`group_id`). */
  readonly threads: ReadonlyMap<string, Thread>;
  /** The toolsets that were loaded. */
  readonly toolsets: readonly LoadedEvent[];
  /** The servers that ended. */
  readonly exits: readonly ExitedEvent[];
  /** Whether the events are complete. */
  readonly isWhole: boolean;
  /** The oldest call. */
  readonly first: Exchange | undefined;
  /** Takes the next event. */
  apply(event: Event): void;
}

/**
 * Folds events into calls, live or from a saved transcript. `new History(isWhole, redact)`: `isWhole` is false if events may be missing,
 * `redact` changes the texts of refused messages, which are quoted.
 * @example
 * const history = new History();
 * for (const event of readTranscript(lines).events) history.apply(event);
 * for (const exchange of history.exchanges.values()) console.log(llmTextOf(exchange));
 */
export const History: new (isWhole?: boolean, redact?: (text: string) => string) => History = FoldedHistory;
