import type { Fact } from '../../exchange/events.js';
import type { AckFault, CallbackFault } from '../../fixtures/faults.js';
import type { Conversation } from '../conversation/conversation.js';

/** What will be done about one call; decided when it comes in, in the order in which calls come in. */
export interface Plan {
  /** What is to be told of it before the acknowledgement: once, by the intake, which adds which call it is about. */
  readonly facts: readonly Fact[];
  readonly ack: AckFault | null;
  /** The faults of the n-th callback, from 0. */
  readonly faultsOf: (callback: number) => readonly CallbackFault[];
  /** What it throws becomes an error result. */
  readonly perform: (conversation: Conversation) => Promise<void>;
  /** Something may be said after `perform` too: the events of what was subscribed. */
  readonly isOpenEnded?: boolean;
  /** What may be told of the message of what it throws: without secrets (TOOL-SECRET). */
  readonly words?: (message: string) => string;
}

const FLAWLESS = { ack: null, faultsOf: () => [] } as const;

/** Without a fault. */
export function plain(facts: readonly Fact[], perform: Plan['perform']): Plan {
  return { ...FLAWLESS, facts, perform };
}

/** A call that nothing answers ends in an error all the same (TOOL-ALWAYS, TOOL-ERRPREFIX). */
export function refusal(message: string, nearest?: Extract<Fact, { kind: 'matched' }>['nearest']): Plan {
  const unmatched: Fact = { kind: 'matched', fixture: null, ...(nearest && { nearest }) };
  return plain([{ kind: 'warned', message }, unmatched], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}
