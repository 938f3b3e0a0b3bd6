import { isDeepStrictEqual } from 'node:util';
import type { Case, CaseResult, Offer } from '../fixtures/check-files.js';
import { wantedText } from '../fixtures/pattern.js';
import type { ToolResult } from '../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../protocol/outcome.js';
import { chooseSegment, knownTypes } from '../segments/segments.js';
import { parseJson } from '../util/json.js';
import { firstWithRest, formatDuration } from '../util/text.js';
import { jsonPath } from '../util/values.js';
import type { CallEvidence } from './call.js';
import { concernedCalls } from './concerned.js';
import type { Evidence } from './evidence.js';
import { messagesOf } from './recorded-call.js';
import type { CaseCheck } from './report.js';
import { possiblyLostText } from './rule.js';

type CaseVerdict = Pick<CaseCheck, 'status' | 'reason' | 'reasonLines' | 'events' | 'byExit'>;

const MAX_FAULTS = 20;

const NO_HEADERS = 'the recording does not show the headers of calls; check the tool itself with these cases';

/** Compares the calls of each case with what the case expects. If there are several recordings, the worst result counts. */
export function judgeCases(cases: readonly Case[], evidences: readonly Evidence[]): readonly CaseCheck[] {
  const calls = evidences.flatMap(evidence => evidence.calls);
  const isPlanned = calls.some(({ plans }) => plans.some(plan => plan.case !== undefined));
  const isOtherCheck = !isPlanned && calls.length > 0 && evidences.every(({ isProbed }) => isProbed);
  const missing: CaseVerdict = {
    status: 'could-not-run',
    reason: isOtherCheck
      ? 'this check was recorded without cases; check the tool itself with them'
      : 'not called',
    events: [],
    ...(evidences.some(({ exit }) => exit) && { byExit: true }),
  };
  return cases.map((each, index) => {
    const isOf = (call: CallEvidence) =>
      isPlanned ? call.plans.some(plan => plan.case === index) : isSent(each, call, cases);
    const verdicts = evidences.flatMap(evidence =>
      evidence.calls.filter(isOf).map(call => verdictOn(each, call, evidence.isWhole)),
    );
    const isHidden = !isPlanned && each.caller?.headers !== undefined;
    const absent = isHidden ? { ...missing, reason: NO_HEADERS } : missing;
    const [verdict = absent] = (['fail', 'could-not-run', 'pass'] as const).flatMap(
      kind => verdicts.find(({ status }) => status === kind) ?? [],
    );
    const concerned = verdict.status === 'pass' ? [] : concernedCalls(new Set(verdict.events), evidences);
    const { place, operation } = each;
    return { place, operation, ...verdict, ...(concerned.length > 0 && { calls: concerned }) };
  });
}

/** Whether a runtime made the call of a case; the answers to a probe are different. A call belongs to the case that names its user. */
function isSent(each: Case, call: CallEvidence, cases: readonly Case[]): boolean {
  const { invocation } = call;
  const isSame = ({ operation, arguments: args }: Case) =>
    invocation?.operation === operation && isDeepStrictEqual(invocation.arguments, args);
  const isOfUser = ({ caller }: Case) =>
    caller?.userId !== undefined && caller.userId === invocation?.user_id;
  if (call.isProbed || each.caller?.headers || !isSame(each)) return false;
  return each.caller?.userId === undefined
    ? !cases.some(other => isSame(other) && isOfUser(other))
    : isOfUser(each);
}

function verdictOn({ expected, offers }: Case, call: CallEvidence, isWhole: boolean): CaseVerdict {
  const result = call.callbacks.find(({ verdict }) => verdict?.kind === 'settles');
  if (result?.message?.type !== 'tool_result') return withoutResult(call, isWhole);
  const differences = (expected?.(caseResult(result.message)) ?? []).map(
    difference => `${jsonPath(difference.path)}: ${wantedText(difference)}`,
  );
  const missing = offers
    .filter(offer => !OFFERS[offer].isIn(call))
    .map(offer => missingText(OFFERS[offer].message, call));
  const { events } = result;
  const reasonLines = firstWithRest([...differences, ...missing], MAX_FAULTS);
  const reason = reasonLines.join('; ');
  if (differences.length > 0)
    return { status: 'fail', reason, ...(reasonLines.length > 1 && { reasonLines }), events };
  return missing.length > 0
    ? missingVerdict(reason, events, isWhole)
    : { status: 'pass', reason: 'the result is as expected', events };
}

/** @param wanted the message; an invalid one that was refused may have been meant as it */
function missingText(wanted: string, { callbacks }: CallEvidence): string {
  const isRefused = callbacks.some(({ message, typeName }) => message === null && typeName === wanted);
  return `no ${isRefused ? 'valid ' : ''}${wanted} came, but the case expects one`;
}

const comes = (type: 'user_choice' | 'oauth' | 'view_update') => ({
  message: type,
  isIn: (call: CallEvidence) => messagesOf(call, type).length > 0,
});

/** An operation's offer, the message that starts it, and whether that message came. */
const OFFERS = {
  choice: comes('user_choice'),
  oauth: comes('oauth'),
  view: comes('view_update'),
  subscription: {
    message: 'tool_result with subscription: true',
    isIn: (call: CallEvidence) =>
      messagesOf(call, 'tool_result').some(({ message }) => message.subscription === true),
  },
} as const satisfies Record<Offer, object>;

/** Something missing is a failure, except in an incomplete recording. */
function missingVerdict(what: string, events: readonly number[], isWhole: boolean): CaseVerdict {
  return isWhole
    ? { status: 'fail', reason: what, events }
    : { status: 'could-not-run', reason: possiblyLostText(what), events };
}

function withoutResult(call: CallEvidence, isWhole: boolean): CaseVerdict {
  const { attempts, callbacks, expiries, isInterrupted } = call;
  const last = attempts.slice(-1);
  const status = last[0]?.status ?? null;
  const events = [...last, ...callbacks].flatMap(trip => trip.events);
  const failed = (reason: string): CaseVerdict => ({ status: 'fail', reason, events });
  const unclear = (reason: string): CaseVerdict => ({ status: 'could-not-run', reason, events });
  if (isInterrupted) return { ...unclear('the tool crashed before a result came'), byExit: true };
  if (status === null) return unclear('the invocation was never answered');
  if (status !== 200) return failed(`the invocation was answered ${status}`);
  const isMisnamed = ({ verdict, message }: (typeof callbacks)[number]) =>
    verdict?.kind === 'discarded' && message?.type === 'tool_result';
  if (callbacks.some(isMisnamed))
    return failed('the result names another call and is ignored (TOOL-ID, RT-MATCH)');
  if (callbacks.some(({ message }) => message === null))
    return failed('a callback came, but it is not valid (TOOL-POST)');
  if (callbacks.some(({ verdict }) => verdict?.kind === 'holds'))
    return unclear('the call waits for a person');
  const within = expiries[0] ? ` within ${formatDuration(expiries[0].afterMs)}` : '';
  return missingVerdict(`no result came${within}`, events, isWhole);
}

/** The values that a case can check. The display segment is the one that a client with support for all types shows. */
function caseResult(message: ToolResult): CaseResult {
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
