import type { Event } from '../../exchange/events.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import type { Verdict } from '../../exchange/verdict.js';
import type { CallbackReading } from '../../protocol/callbacks/read.js';
import type { InvocationReading } from '../../protocol/read-invocation.js';
import type { ToolsetReading } from '../../protocol/read-toolset.js';
import type { Tool } from '../../protocol/toolset.js';
import type { Leg } from './leg.js';

export type Planned = Extract<Event, { kind: 'planned' }>;
export type Expired = Extract<Event, { kind: 'expired' }>;
export type Decided = Extract<Event, { kind: 'decided' }>;

/**
 * What there is to judge by: the events of a transcript, put together by what they belong to. The same whoever saw them, a runtime, a
 * tool, a recorder between the two, or a check.
 */
export interface Evidence {
  readonly observer: TranscriptHeader['observer'];
  /** Whether nothing of it was lost: else what is not there may have been. */
  readonly isWhole: boolean;
  /** Whether a check has made calls in it, which break on purpose what a runtime must hold. */
  readonly isProbed: boolean;
  /** In the order in which they were made. */
  readonly calls: readonly CallEvidence[];
  /** Callbacks to an address that is no call's. */
  readonly strays: readonly CallbackEvidence[];
  readonly discoveries: readonly Discovery[];
  /** Of threads and calls, known or not. */
  readonly closes: readonly Leg[];
  readonly cancels: readonly Leg[];
  readonly migrations: readonly Leg[];
  /** All that was planned, also where no call came of it. */
  readonly plans: readonly Planned[];
  /** Operations that a check was offered and has not called. */
  readonly notCalled: readonly string[];
  /** Of what was read from lines, the number of each event's, by its `seq`. */
  readonly lines?: ReadonlyMap<number, number>;
  /** Where the tool died, what it died of. */
  readonly death: Death | null;
  /** When the last event happened, in ms since the start. */
  readonly until: number;
}

/** One invocation, well-formed or not, and what followed. */
export interface CallEvidence {
  readonly key: string;
  /** Of the first attempt's body. */
  readonly reading: InvocationReading;
  /** The tool of the toolset that it names; null where none does, or no toolset is known. */
  readonly tool: Tool | null;
  /** How its arguments break the tool's `inputSchema`; null where that could not be checked. */
  readonly argumentFaults: readonly string[] | null;
  /** Each time it was sent. */
  readonly attempts: readonly Leg[];
  /** What came to its callback URL, oldest first. */
  readonly callbacks: readonly CallbackEvidence[];
  /** Selections that were posted for it. */
  readonly selections: readonly Leg[];
  /** Notices that it is not wanted any more. */
  readonly cancels: readonly Leg[];
  /** The first notice, after it was sent, that its thread is over. */
  readonly closes: readonly Leg[];
  readonly plans: readonly Planned[];
  readonly expiries: readonly Expired[];
  /** Its tool died of something else before it came to an end. */
  readonly isCutShort: boolean;
  readonly decisions: readonly Decided[];
}

export interface CallbackEvidence extends Leg {
  /** Null where it was turned away before its body counted. */
  readonly reading: CallbackReading | null;
  /** What it means for its call; null where it is no call's, or the call itself could not be read. */
  readonly verdict: Verdict | null;
}

/** A toolset that was asked for. */
export interface Discovery extends Leg {
  /** Null where no document came. */
  readonly reading: ToolsetReading | null;
}

/** What a tool got just before it was gone. */
export type Culprit = 'malformed' | 'notice' | 'callback' | 'call';

/** A tool that died: from some message on, nothing reached it. */
export interface Death {
  readonly kind: Culprit;
  /** The message before the death; of a callback, the one that was lost or refused. */
  readonly message: Leg;
  /** The first request that was sent later, and found nobody. */
  readonly later: Leg;
  /** Messages of the same kind that were sent at the same time. */
  readonly others: number;
}
