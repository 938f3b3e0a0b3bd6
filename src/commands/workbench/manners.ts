import type { ListenerOptions } from '../../runtime/callback-listener.js';
import type { Consent } from '../invoke/consent.js';

/** How the calls of a session are made. */
export interface Manners {
  /** Ms for the result; 0 waits for ever. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly lenientAck: boolean;
  readonly listener: ListenerOptions;
  readonly consent: Consent;
  /** The thread of all calls; null: a fresh one for each. */
  readonly groupId: string | null;
  readonly userId: string | null;
  /** Root first. */
  readonly ancestors: readonly string[];
}
