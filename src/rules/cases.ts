import { isDeepStrictEqual } from 'node:util';
import { chooseSegment } from '../display/choose.js';
import { knownTypes } from '../display/segments/index.js';
import type { Case, CaseResult } from '../fixtures/cases/case.js';
import type { Difference } from '../fixtures/matching/pattern.js';
import { wantedText } from '../fixtures/matching/wanted.js';
import { outcomeOfText } from '../outcome/conventions.js';
import type { ToolResult } from '../protocol/callbacks/index.js';
import { llmText } from '../protocol/llm-text.js';
import { formatDuration } from '../text/format-duration.js';
import { parseJson } from '../text/json.js';
import { jsonPath } from '../text/json-path.js';
import type { CallbackEvidence, CallEvidence, Evidence } from './evidence/evidence.js';
import { eventsOf, type Leg, statusOf } from './evidence/leg.js';
import type { CheckStatus } from './judge.js';
import { perhapsLost } from './observation.js';
import { missingOffers } from './offers.js';

/** What came of one case: a row beside those of the rules. */
export interface CaseCheck {
  /** `file:line` */
  readonly place: string;
  readonly operation: string;
  readonly status: Extract<CheckStatus, 'pass' | 'fail' | 'could-not-run'>;
  readonly reason: string;
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
}

/** Each case's call against what the case expects of its result, and what it says that the call starts. */
export function judgeCases(
  cases: readonly Case[],
  evidences: readonly Pick<Evidence, 'calls' | 'isWhole' | 'isProbed'>[],
): readonly CaseCheck[] {
  const isCallOf = callFinder(evidences);
  const missing = isWithoutCases(evidences) ? NOT_RUN : NOT_CALLED;
  return cases.map((each, index) => {
    const { place, operation } = each;
    const verdicts = evidences.flatMap(({ calls, isWhole }) =>
      calls.filter(call => isCallOf(each, index, call)).map(call => verdictOn(each, call, isWhole)),
    );
    return { place, operation, ...(worstOf(verdicts) ?? missing) };
  });
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
function worstOf(verdicts: readonly Verdict[]): Verdict | undefined {
  const [worst] = WORST_FIRST.flatMap(kind => verdicts.find(({ status }) => status === kind) ?? []);
  return worst;
}

const WORST_FIRST = ['fail', 'could-not-run', 'pass'] as const;

type Verdict = Pick<CaseCheck, 'status' | 'reason' | 'events'>;

const NOT_CALLED: Verdict = { status: 'could-not-run', reason: 'it was not called', events: [] };
const NOT_RUN: Verdict = {
  ...NOT_CALLED,
  reason:
    'the cases were not run in this transcript, which is of a check without them; check the tool itself with --cases',
};

/** Whether a check made all the calls there are, and none of them for a case. */
function isWithoutCases(evidences: readonly Pick<Evidence, 'calls' | 'isProbed'>[]): boolean {
  const calls = evidences.flatMap(evidence => evidence.calls);
  return evidences.every(({ isProbed }) => isProbed) && calls.length > 0 && !calls.some(isPlanned);
}

function verdictOn({ expected, offers }: Case, call: CallEvidence, isWhole: boolean): Verdict {
  const callback = call.callbacks.find(({ verdict }) => verdict?.kind === 'settles');
  const message = callback?.reading?.ok ? callback.reading.message : null;
  if (!callback || message?.type !== 'tool_result') return withoutResult(call, isWhole);
  const differences = (expected?.(seenIn(message)) ?? []).map(differenceText);
  const missing = missingOffers(offers, call);
  const events = eventsOf(callback);
  if (differences.length > 0) return { status: 'fail', reason: listed([...differences, ...missing]), events };
  if (missing.length > 0) return { ...absent(listed(missing), isWhole), events };
  return { status: 'pass', reason: 'its result is as expected', events };
}

/** What did not come is a failure; where a part of what happened is not known, it may have come. */
function absent(what: string, isWhole: boolean): Pick<Verdict, 'status' | 'reason'> {
  return isWhole ? { status: 'fail', reason: what } : { status: 'could-not-run', reason: perhapsLost(what) };
}

/** Whoever mends a tool wants to see all of them; of hundreds, the first. */
function listed(faults: readonly string[]): string {
  const more = faults.length - MOST_FAULTS;
  return faults.slice(0, MOST_FAULTS).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

const MOST_FAULTS = 20;

function differenceText(difference: Difference): string {
  return `${jsonPath(difference.path)}: ${wantedText(difference)}`;
}

/** What a case can speak of: what the human sees is chosen as by a client that draws all segments there are. */
function seenIn(message: ToolResult): CaseResult {
  const text = llmText(message);
  const json = parseJson(text);
  const { chosen } = chooseSegment(message.display_as, knownTypes);
  const segment = chosen && message.display_as?.[chosen.index];
  return {
    outcome: outcomeOfText(text).type,
    text,
    ...(json.ok && { json: json.value }),
    ...(segment && { display: segment }),
    subscription: message.subscription === true,
  };
}

function withoutResult({ attempts, callbacks, expiries }: CallEvidence, isWhole: boolean): Verdict {
  const last = attempts.at(-1);
  const status = last ? statusOf(last) : null;
  const legs: readonly Leg[] = [...(last ? [last] : []), ...callbacks];
  const events = legs.flatMap(eventsOf);
  if (status === null)
    return { status: 'could-not-run', reason: 'the invocation was never answered', events };
  if (status !== 200) return { status: 'fail', reason: `the invocation was answered ${status}`, events };
  if (callbacks.some(isAnothers)) return { status: 'fail', reason: ANOTHERS, events };
  const question = callbacks.find(isQuestion);
  if (question) return { status: 'could-not-run', reason: 'it waits for a person', events };
  const [{ afterMs } = { afterMs: null }] = expiries;
  const within = afterMs === null ? '' : ` within ${formatDuration(afterMs)}`;
  return { ...absent(`no result came${within}`, isWhole), events };
}

const ANOTHERS = 'the result that came names another call, and is ignored (TOOL-ID, RT-MATCH)';

function isAnothers({ verdict, reading }: CallbackEvidence): boolean {
  return verdict?.kind === 'discarded' && reading?.ok === true && reading.message.type === 'tool_result';
}

function isQuestion({ verdict }: CallbackEvidence): boolean {
  return verdict?.kind === 'holds';
}
