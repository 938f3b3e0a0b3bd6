import type { Content } from '../../exchange/content.js';
import type { Event } from '../../exchange/events.js';
import type { Turn } from '../../exchange/facts.js';

export type Matched = Extract<Event, { kind: 'matched' }>;

/** A callback as it was posted: a repeat must be these bytes again. */
export interface Rendered {
  readonly url: string;
  readonly body: Content;
  readonly contentType: string;
  readonly turn: Turn;
  /** `waiting`: it was posted at least once, and nobody has said yet that it arrived. */
  readonly state: 'waiting' | 'delivered' | 'dropped';
}

/** A call that was received, and neither refused nor settled when the last run ended. */
export interface Recovered {
  readonly key: string;
  readonly thread: string;
  readonly invocation: Content;
  readonly headers: Readonly<Record<string, string>>;
  /** What was going to answer it; null where no fixture was asked yet. */
  readonly matched: Matched | null;
  /** Where none answers it: why, as its result says. */
  readonly refusal: string | null;
  /** In the order in which they were first posted. */
  readonly rendered: readonly Rendered[];
  /** Of the last message that was said, or dropped on purpose; null where there was none. */
  readonly turn: Turn | null;
  /** Whether its result is one of those. */
  readonly isAnswered: boolean;
  /** Why it was called off; null while it goes on. */
  readonly calledOff: string | null;
}

/** A call that is over: the same invocation again is acknowledged and not carried out. */
export interface Settled {
  readonly groupId: string;
  readonly id: string;
  /** Of the invocation's bytes. */
  readonly sha256: string;
}

/** What a journal says of the runs before this one. */
export interface Recovery {
  /** In the order in which they were received. */
  readonly calls: readonly Recovered[];
  /** Given to `FixtureState.restore` in this order, they bring back counts and states. */
  readonly matched: readonly Matched[];
  /** The last 100,000 at least, oldest first. */
  readonly settled: readonly Settled[];
  /** Length of a last line that was cut off, of which nothing was acknowledged; it is gone. */
  readonly tornBytes: number;
  /** Lines that do not match their checksum, or that nobody can read: where they were, and what they held. They are gone. */
  readonly damaged: readonly DamagedLine[];
}

export interface DamagedLine {
  /** From 1. */
  readonly number: number;
  /** Such as `212 bytes, kind "body", operation "edit", id "c1"`. */
  readonly held: string;
}
