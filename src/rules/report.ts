import { REQUIREMENTS, type RequirementId, type Side } from '../protocol/requirements.js';
import type { Evidence } from './evidence/evidence.js';
import { type Check, type CheckStatus, judge, unobservable } from './judge.js';
import { RULES, UNOBSERVABLE } from './rules.js';

export interface CheckReport {
  /** One row per requirement, in the order of the protocol. */
  readonly checks: readonly Check[];
  readonly summary: Readonly<Record<CheckStatus, number>>;
}

/** Which requirements are judged; all of them unless told. */
export interface Selection {
  readonly only?: ReadonlySet<RequirementId>;
  readonly skip?: ReadonlySet<RequirementId>;
}

const IDS = Object.keys(REQUIREMENTS) as RequirementId[];

/** The rows of one side. @param evidences of recordings, each judged by itself */
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
  return rule ? judge(rule, ...evidences) : unobservable(id, UNOBSERVABLE[id] ?? 'it is not judged');
}
