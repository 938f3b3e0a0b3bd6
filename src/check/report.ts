import type { Event } from '../events/events.js';
import type { TranscriptHeader } from '../events/log.js';
import type { Transcript } from '../events/transcript-reader.js';
import { REQUIREMENT_IDS, type RequirementId, type Side } from '../protocol/requirements.js';
import { type Evidence, gather, recordingsOf } from './evidence.js';
import { type Check, type CheckStatus, judge } from './judge.js';
import { RULES } from './rules/all.js';

export interface CheckReport {
  /** One row per requirement, in the order of the protocol. */
  readonly checks: readonly Check[];
  readonly summary: Readonly<Record<CheckStatus, number>>;
}

/** Which requirements to judge; default: all. */
export interface Selection {
  readonly only?: ReadonlySet<RequirementId>;
  readonly skip?: ReadonlySet<RequirementId>;
}

export interface CheckOptions extends Selection {
  /** Whose requirements; default: both sides. */
  readonly sides?: readonly Side[];
  /** Who recorded bare events; default: a runtime. A transcript says it in its header. */
  readonly observer?: TranscriptHeader['observer'];
  /** False if bare events are incomplete: then missing events are not violations. */
  readonly isWhole?: boolean;
}

/**
 * Judges what happened by the requirements of the protocol: one row for each, with the events that prove it. It makes no difference
 * whether the events are from a live run, a recording or a saved transcript. Several transcripts, as `readTranscripts` returns them,
 * are judged separately. Missing parts of a transcript are not violations.
 */
export async function checkTranscript(
  source: readonly Event[] | Transcript | readonly Transcript[],
  { sides = ['tool', 'runtime'], observer = 'runtime', isWhole = true, ...selection }: CheckOptions = {},
): Promise<CheckReport> {
  const recordings = isEvents(source)
    ? [{ observer, events: source, isWhole }]
    : recordingsOf([source].flat());
  const checks = await Promise.all(
    sides.map(async side => {
      const evidences = await Promise.all(recordings.map(recording => gather(recording, side)));
      return checksOf(side, evidences, selection);
    }),
  );
  return { checks: checks.flat(), summary: countStatuses(checks.flat()) };
}

function isEvents(source: readonly Event[] | Transcript | readonly Transcript[]): source is readonly Event[] {
  return Array.isArray(source) && source.every(each => 'kind' in each);
}

/** The rows of one side. @param evidences one per recording, judged separately */
export function checksOf(
  side: Side,
  evidences: readonly Evidence[],
  { only, skip }: Selection = {},
): readonly Check[] {
  const checks = REQUIREMENT_IDS.filter(id => RULES[id].side === side)
    .filter(id => (only?.has(id) ?? true) && !skip?.has(id))
    .map(id => judge(RULES[id], ...evidences));
  const open = new Set(
    checks.filter(({ status }) => status !== 'pass' && status !== 'not-applicable').map(({ id }) => id),
  );
  return checks.map(({ masks = [], ...check }) => {
    const masked = masks.filter(id => id !== check.id && open.has(id));
    return masked.length > 0 ? { ...check, masks: masked } : check;
  });
}

export function countStatuses(checks: readonly Check[]): CheckReport['summary'] {
  const summary = { pass: 0, fail: 0, warn: 0, 'not-applicable': 0, 'could-not-run': 0 };
  for (const { status } of checks) summary[status]++;
  return summary;
}
