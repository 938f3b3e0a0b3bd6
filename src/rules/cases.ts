import { isDeepStrictEqual } from 'node:util';
import type { Case } from '../fixtures/cases/case.js';
import { type CaseVerdict, verdictOn } from './case-verdict.js';
import { type ConcernedCall, concernedBy } from './concerned-call.js';
import type { CallEvidence, Evidence } from './evidence/evidence.js';

/** What came of one case: a row beside those of the rules. */
export interface CaseCheck extends CaseVerdict {
  /** `file:line` */
  readonly place: string;
  readonly operation: string;
  /** Where it does not pass, the call that was made for it. */
  readonly calls?: readonly ConcernedCall[];
}

/** Of evidence, what a case can be judged by. */
type Seen = Pick<Evidence, 'calls' | 'lines' | 'isWhole' | 'isProbed'>;

/** Each case's call against what the case expects of its result, and what it says that the call starts. */
export function judgeCases(cases: readonly Case[], evidences: readonly Seen[]): readonly CaseCheck[] {
  const isCallOf = callFinder(evidences);
  const missing = isWithoutCases(evidences) ? NOT_RUN : NOT_CALLED;
  return cases.map((each, index) => {
    const { place, operation } = each;
    const verdicts = evidences.flatMap(({ calls, isWhole }) =>
      calls.filter(call => isCallOf(each, index, call)).map(call => verdictOn(each, call, isWhole)),
    );
    const verdict = worstOf(verdicts) ?? missing;
    return { place, operation, ...verdict, ...concernedIn(verdict, evidences) };
  });
}

function concernedIn({ status, events }: CaseVerdict, evidences: readonly Seen[]) {
  const calls = status === 'pass' ? [] : concernedBy(events, evidences);
  return calls.length > 0 ? { calls } : {};
}

/** Whether a call is that of a case: whoever made it for one says so; of others, whether it sends the same. */
function callFinder(evidences: readonly Pick<Evidence, 'calls'>[]) {
  const arePlanned = evidences.some(({ calls }) => calls.some(isPlanned));
  return (each: Case, index: number, call: CallEvidence) =>
    arePlanned ? call.plans.some(plan => plan.case === index) : isSent(each, call);
}

/** Made for some case. */
function isPlanned({ plans }: CallEvidence): boolean {
  return plans.some(plan => plan.case !== undefined);
}

/** What a probe sends is not answered as a runtime would. */
function isSent({ operation, arguments: args }: Case, { reading, plans }: CallEvidence): boolean {
  if (!reading.ok || plans.some(({ by }) => by === 'probe')) return false;
  const { invocation } = reading;
  return invocation.operation === operation && isDeepStrictEqual(invocation.arguments, args);
}

/** Of recordings that were joined each may have a call of the same case: none of them makes up for another. */
function worstOf(verdicts: readonly CaseVerdict[]): CaseVerdict | undefined {
  const [worst] = WORST_FIRST.flatMap(kind => verdicts.find(({ status }) => status === kind) ?? []);
  return worst;
}

const WORST_FIRST = ['fail', 'could-not-run', 'pass'] as const;

const NOT_CALLED: CaseVerdict = { status: 'could-not-run', reason: 'it was not called', events: [] };
const NOT_RUN: CaseVerdict = {
  ...NOT_CALLED,
  reason:
    'the cases were not run in this transcript, which is of a check without them; check the tool itself with --cases',
};

/** Whether a check made all the calls there are, and none of them for a case. */
function isWithoutCases(evidences: readonly Pick<Evidence, 'calls' | 'isProbed'>[]): boolean {
  const calls = evidences.flatMap(evidence => evidence.calls);
  return evidences.every(({ isProbed }) => isProbed) && calls.length > 0 && !calls.some(isPlanned);
}
