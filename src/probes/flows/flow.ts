import type { Desk } from '../desk.js';
import type { Letter, Mailbox } from '../mailbox.js';

/** A call whose tool may want to talk. */
export interface Conversing {
  readonly key: string;
  readonly id: string;
  readonly thread: string;
  readonly mailbox: Mailbox;
  /** Whether a subscription is followed to its end. */
  readonly isFollowed: boolean;
}

/** Takes part in what a tool begins with a letter; undefined where that is nothing to it. */
export type Flow = (desk: Desk, call: Conversing, letter: Letter) => Promise<void> | undefined;
