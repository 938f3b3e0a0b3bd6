import type { CheckStatus } from '../../../src/check/report.js';
import type { Event } from '../../../src/events/events.js';
import type { TranscriptHeader } from '../../../src/events/transcript-reader.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { eventsOf, type Moment } from '../../events/build.js';

/** Events, and the verdict that a rule must return. */
export interface Sample {
  /** The end of the test's title: `TOOL-ACK passes: a 200 before the result`. */
  readonly title: string;
  readonly events: readonly Event[];
  /** Default: `runtime`. */
  readonly observer?: TranscriptHeader['observer'];
  /** Whether lines are missing. */
  readonly isLossy?: true;
  readonly status: CheckStatus;
  /** A part of the reason. */
  readonly says?: RegExp | undefined;
}

/** A rule's samples: each must have one that passes and one that does not. */
export type Samples = readonly Sample[];

/** Samples by rule. */
export type SampleSet = Readonly<Partial<Record<RequirementId, Samples>>>;

const sampleOf =
  (status: CheckStatus) =>
  (
    title: string,
    moments: readonly (readonly Moment[])[],
    says?: RegExp,
    more: Pick<Sample, 'observer' | 'isLossy'> = {},
  ): Sample => ({ title, events: eventsOf(...moments), status, says, ...more });

export const passes = sampleOf('pass');
export const fails = sampleOf('fail');
export const warns = sampleOf('warn');
export const unclear = sampleOf('could-not-run');
export const skips = sampleOf('not-applicable');
