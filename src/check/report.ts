import type { Event } from '../events/events.js';
import type { TranscriptHeader } from '../events/log.js';
import type { Transcript } from '../events/transcript-reader.js';
import type { ExpectedFailure } from '../fixtures/expected-failures.js';
import { REQUIREMENTS, type RequirementId, type Side } from '../protocol/requirements.js';
import { recordingsOf, seenFrom } from './evidence/seen-from.js';
import type { Evidence } from './evidence.js';
import { type Check, type CheckStatus, judge, unobservable } from './judge.js';
import { RULES, UNOBSERVABLE } from './rules/all.js';

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

const IDS = Object.keys(REQUIREMENTS) as RequirementId[];

/** The rows of one side. @param evidences one per recording, judged separately */
export function checksOf(
  side: Side,
  evidences: readonly Evidence[],
  { only, skip }: Selection = {},
): readonly Check[] {
  const checks = IDS.filter(id => REQUIREMENTS[id].side === side)
    .filter(id => (only?.has(id) ?? true) && !skip?.has(id))
    .map(id => checkOf(id, evidences));
  return checks.map(check => withFollowUps(check, checks));
}

/** Of what may fail for the same reason, that which does. */
function withFollowUps({ masks = [], ...check }: Check, checks: readonly Check[]): Check {
  const fallen = checks.filter(({ status }) => status !== 'pass' && status !== 'not-applicable');
  const found = masks.filter(id => id !== check.id && fallen.some(each => each.id === id));
  return found.length > 0 ? { ...check, masks: found } : check;
}

export function reportOf(checks: readonly Check[]): CheckReport {
  const count = (status: CheckStatus) => checks.filter(check => check.status === status).length;
  const summary = {
    pass: count('pass'),
    fail: count('fail'),
    warn: count('warn'),
    'not-applicable': count('not-applicable'),
    'could-not-run': count('could-not-run'),
  };
  return { checks, summary };
}

function checkOf(id: RequirementId, evidences: readonly Evidence[]): Check {
  const rule = RULES.get(id);
  return rule ? judge(rule, ...evidences) : unobservable(id, UNOBSERVABLE[id] ?? 'not tested');
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
 * Judges what happened by the requirements of the protocol: one row for each, with the events that prove it. The same whether it
 * is from a live run, a recording or a saved transcript, as `readTranscript` has it; several, as `readTranscripts` has them, are each
 * judged separately. Missing parts of a transcript are not violations.
 */
export async function checkTranscript(
  told: readonly Event[] | Transcript | readonly Transcript[],
  { sides = ['tool', 'runtime'], observer = 'runtime', isWhole = true, ...selection }: CheckOptions = {},
): Promise<CheckReport> {
  const recordings = isBare(told) ? [{ observer, events: told, isWhole }] : recordingsOf([told].flat());
  const checks = await Promise.all(
    sides.map(async side => checksOf(side, await Promise.all(recordings.map(seenFrom(side))), selection)),
  );
  return reportOf(checks.flat());
}

function isBare(told: readonly Event[] | Transcript | readonly Transcript[]): told is readonly Event[] {
  return Array.isArray(told) && told.every(each => 'kind' in each);
}

/** A failure that is expected where there was none to see. */
export interface IdleExcuse extends ExpectedFailure {
  /** The end of a sentence that begins with its id. */
  readonly why: string;
}

/** The expected failures that could not occur in this run, with the reason. */
export function idleExcuses(
  excuses: readonly ExpectedFailure[],
  checks: readonly Check[],
  sides: readonly Side[],
): readonly IdleExcuse[] {
  return excuses.flatMap(excuse => {
    const why = whyIdle(
      excuse,
      checks.find(({ id }) => id === excuse.id),
      sides,
    );
    return why === null ? [] : [{ ...excuse, why }];
  });
}

function whyIdle({ id }: ExpectedFailure, check: Check | undefined, sides: readonly Side[]): string | null {
  const { side } = REQUIREMENTS[id];
  const unseen = UNOBSERVABLE[id];
  if (!sides.includes(side)) return `is a rule of the ${side}; only the ${sides.join(' and ')} is checked`;
  if (unseen !== undefined) return `can never fail: ${unseen}`;
  if (!check) return 'was not selected';
  return check.status === 'not-applicable' ? `did not apply: ${check.reason}` : null;
}
