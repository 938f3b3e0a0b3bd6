import { checkTranscript } from '../../../../src/check/judge.js';
import type { Event } from '../../../../src/events/events.js';
import type { TranscriptHeader } from '../../../../src/events/transcript-reader.js';
import type { RequirementId } from '../../../../src/protocol/requirements.js';
import { findingsIn } from '../../support/checking.js';

/** A runtime that breaks one rule, and what someone saw of it. */
export interface BrokenRuntime {
  readonly does: string;
  readonly breaks: RequirementId;
  /** The rules that it was seen to break. */
  readonly findings: () => Promise<readonly string[]>;
}

/** The rules of runtimes that were seen to be broken; a look at one occasion leaves the others out. */
export async function brokenIn(
  events: readonly Event[],
  observer: TranscriptHeader['observer'],
): Promise<readonly string[]> {
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer });
  if (checks.every(({ status }) => status === 'not-applicable')) throw new Error('nothing was seen');
  return findingsIn(checks)
    .filter(({ status }) => status !== 'could-not-run')
    .map(({ id }) => id);
}
