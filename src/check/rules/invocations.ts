import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { outcomeOfPayload, outcomeOfText } from '../../protocol/outcome.js';
import { asksForCredentials } from '../../util/headers.js';
import { bytesText, formatDuration, joinFirst } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import type { CallbackEvidence, CallEvidence } from '../call.js';
import type { Evidence } from '../evidence.js';
import { isDefined, memberText } from '../members.js';
import {
  cutOff,
  defineRules,
  doubtful,
  inconclusive,
  met,
  metWithNote,
  type Observation,
  type Observed,
  requestSpot,
  type Spot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { CALLBACK_RULES, refusalDetails, resultSpots, toolCrashObservation } from '../rule-details.js';

const MAX_ACK_MS = 1_000;

/** A server may close the connection instead of reading a body beyond its limit. */
const LARGE_BODY = 64 * 1024;

/** A shorter body may be an `OK`; a longer one has content. */
const MAX_OK_BYTES = 64;

/** Members that only an outcome would have. */
const OUTCOME_MEMBERS = ['text', 'content', 'result', 'output', 'outcome'];

const VALIDATION =
  'For any validation failure — malformed payload, unknown operation, invalid arguments — the tool SHOULD still return HTTP 200 to acknowledge receipt, then deliver the error asynchronously as a tool result with an error description.';

const MALFORMED = 'a malformed payload';

const CUT_SHORT = 'the tool crashed before it';

/** What a tool must not execute. */
const SUBJECTS = {
  'unknown-operation': 'an unknown operation',
  'bad-arguments': 'a call whose arguments do not match its inputSchema',
};

/** Maximum number of members that a reason names. */
const MAX_MEMBERS = 3;

/** How a tool answers invocations, valid or not. */
export const invocationRules = defineRules({
  'TOOL-ACK': {
    level: 'MUST',
    statement: 'answers 200 at once, before it does the work',
    advice:
      'Answer 200, not another status, before the work starts: over 250 ms is a warning, over 1 s a failure.',
    invocationPage: 'The tool MUST return HTTP 200 immediately to acknowledge receipt.',
    masks: [
      'TOOL-ASYNC',
      'TOOL-UNKNOWN-OP',
      'TOOL-BAD-ARGS',
      'TOOL-EXTRA',
      'TOOL-MALFORMED',
      'TOOL-RETRY',
      'TOOL-NORETRY',
    ],
    absent: 'no invocation was sent',
    observe: evidence => {
      const valid = evidence.calls.filter(({ invocation }) => invocation);
      const repeats = repeatsIn(valid);
      return valid.map(call =>
        call.attempts.map(attempt => {
          if (attempt.status === 200)
            return onAcknowledged(attempt, call, repeats.get(call.content), evidence);
          if (attempt.status !== null)
            return call.flaw === null ? onRefusal(attempt, call, evidence.isLive) : null;
          return attempt === call.attempts.at(-1) ? onUnanswered(attempt, call, evidence) : null;
        }),
      );
    },
  },
  'TOOL-ASYNC': {
    level: 'MUST',
    statement: "delivers every outcome as a callback, never in the acknowledgement's body",
    advice: 'Answer with an empty body, and POST the outcome to callback_url as a tool_result.',
    invocationPage: 'MUST process the request asynchronously',
    masks: ['TOOL-ALWAYS', ...CALLBACK_RULES],
    absent: 'no acknowledged invocation had an outcome at its callback URL',
    observe: ({ calls }) =>
      calls.map(call => {
        const acknowledgement = call.attempts.find(({ status }) => status === 200);
        return acknowledgement ? onBody(acknowledgement, call) : null;
      }),
  },
  'TOOL-VALIDATE': {
    level: 'MUST',
    statement: 'never executes an unknown operation, or arguments that do not match the inputSchema',
    advice:
      'Look up the operation and validate the arguments against its inputSchema before you do anything else.',
    invocationPage:
      'Upon receiving an invocation, the tool MUST validate that the operation field references a supported operation. … Tools MUST validate all input arguments before processing to guard against injection attacks, unexpected data types, or values outside acceptable ranges.',
    masks: ['TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS'],
    absent: 'no call with an unknown operation or with invalid arguments had an outcome',
    observe: ({ calls }) => {
      const isValidResult = resultsOfValidCalls(calls);
      return calls.map(call => {
        if (call.flaw === null || call.flaw === 'malformed') return null;
        return onRefusedMembers(call) ?? onExecution(call, SUBJECTS[call.flaw], isValidResult);
      });
    },
  },
  'TOOL-UNKNOWN-OP': {
    level: 'SHOULD',
    statement: 'answers an unknown operation with 200 and an error result',
    advice:
      'Answer 200, then send a tool_result that starts with “Error: ” and lists the available operations.',
    invocationPage: VALIDATION,
    absent: 'no operation was called that is not in the toolset',
    observe: ({ calls }) => {
      const isSilentTool = neverCallsBack(calls);
      return calls
        .filter(({ flaw }) => flaw === 'unknown-operation')
        .map(call => onRefusedMembers(call) ?? onInvalid(call, 'an unknown operation', isSilentTool));
    },
  },
  'TOOL-BAD-ARGS': {
    level: 'SHOULD',
    statement: 'answers arguments that do not match the inputSchema with 200 and an error result',
    advice: 'Answer 200, then send a tool_result that starts with “Error: ” and names the invalid argument.',
    invocationPage: VALIDATION,
    absent: 'no operation was called with arguments that do not match its inputSchema',
    observe: ({ calls }) => {
      const isSilentTool = neverCallsBack(calls);
      return calls
        .filter(({ flaw }) => flaw === 'bad-arguments')
        .map(
          call => onRefusedMembers(call) ?? onInvalid(call, 'a call with invalid arguments', isSilentTool),
        );
    },
  },
  'TOOL-MALFORMED': {
    level: 'SHOULD',
    statement: 'survives a malformed payload: 200, and an error result if it has a callback URL',
    advice: 'Catch parse errors: answer 200, and send an error result if there is a callback_url.',
    invocationPage: VALIDATION,
    masks: ['TOOL-ACK', 'TOOL-CLOSE', 'TOOL-CANCEL', 'TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS', 'TOOL-ALWAYS'],
    failsWhere: 'the tool crashes',
    absent: 'no malformed payload was sent',
    observe: evidence => {
      const malformed = evidence.calls.filter(
        ({ invocation, attempts: [first], refusedMembers }) =>
          !invocation && refusedMembers.length === 0 && first && !isBodyLost(first.request),
      );
      if (malformed.length === 0) return null;
      const isSilentTool = neverCallsBack(evidence.calls);
      const crash = toolCrashObservation(evidence, 'malformed', MALFORMED);
      return crash ?? malformed.map(call => onMalformed(call, isSilentTool));
    },
  },
});

/** A call that was refused because of other members shows nothing about its operation and its arguments. */
function onRefusedMembers({ refusedMembers: members, attempts }: CallEvidence): Observation | null {
  if (members.length === 0) return null;
  const names = visibleLine(joinFirst(members.map(memberText), MAX_MEMBERS));
  const rule = members.some(isDefined) ? 'TOOL-ACK' : 'TOOL-EXTRA';
  return inconclusive(`the call was refused because of ${names} (${rule})`, attempts);
}

/** The best acknowledgement of a call that the check repeated with nothing else in progress. */
interface Repeat {
  readonly ms: number;
  readonly isInOrder: boolean;
}

function repeatsIn(calls: readonly CallEvidence[]): ReadonlyMap<string, Repeat> {
  const best = new Map<string, Repeat>();
  for (const call of calls) {
    const [attempt] = call.attempts;
    if (attempt?.status !== 200 || !call.plans.some(({ again }) => again)) continue;
    const { ms = Number.POSITIVE_INFINITY, isInOrder = false } = best.get(call.content) ?? {};
    best.set(call.content, {
      ms: Math.min(attempt.latestAt - attempt.request.at, ms),
      isInOrder: isInOrder || !resultBefore(attempt, call),
    });
  }
  return best;
}

/** The result of an attempt: an earlier one is of an earlier attempt. */
function resultAfter({ request }: RoundTrip, call: CallEvidence): CallbackEvidence | undefined {
  return call.firstAfter(request.seq, 'tool_result');
}

/** The result that came before the acknowledgement. */
function resultBefore(attempt: RoundTrip, call: CallEvidence): CallbackEvidence | null {
  const result = resultAfter(attempt, call);
  return result && attempt.latestAt - result.request.at > ACK_TOLERANCE_MS ? result : null;
}

function onAcknowledged(
  attempt: RoundTrip,
  call: CallEvidence,
  repeat: Repeat | undefined,
  { isProbed, exit }: Evidence,
): Observation {
  const lateViolation = isProbed ? violatedIfComplete : violated; // the repeat that disproves it may be lost
  const result = resultBefore(attempt, call);
  const isLate = result !== null || attempt.latestAt - attempt.request.at > ACK_SLOW_MS;
  if (isLate && isProbed && exit && !repeat)
    return cutOff('a 200 was late, and the server exited before the call was repeated alone', attempt);
  if (result)
    return repeat?.isInOrder && attempt.latestAt - result.latestAt <= MAX_ACK_MS
      ? doubtful('the 200 came after the result under load, and before it when called alone', [
          attempt,
          result,
        ])
      : lateViolation('the 200 came after the result', [attempt, result]);
  return onSlow(attempt, repeat, isProbed);
}

/** Judges how long a call took to be acknowledged. */
function onSlow(attempt: RoundTrip, repeat: Repeat | undefined, isProbed: boolean): Observation {
  const took = attempt.latestAt - attempt.request.at;
  const ms = Math.min(took, repeat?.ms ?? took);
  if (took <= ACK_SLOW_MS) return met(attempt);
  if (ms <= ACK_SLOW_MS) {
    const what = `the 200 took ${formatDuration(took)} under load, and ${formatDuration(ms)} when called alone`;
    return (took > MAX_ACK_MS ? doubtful : metWithNote)(what, attempt);
  }
  const what = `the 200 took ${formatDuration(ms)}${repeat ? ' when called alone' : ''}`;
  if (ms <= MAX_ACK_MS) return doubtful(`${what}, over ${ACK_SLOW_MS} ms`, attempt);
  if (isProbed && !repeat)
    return { ...doubtful(`${what}; the call was not repeated alone`, attempt), isByAbsence: true };
  const violation = isProbed ? violatedIfComplete : violated;
  return violation(what, attempt, { expected: `within ${MAX_ACK_MS} ms`, actual: formatDuration(ms) });
}

/** The last attempt of a call has no response. */
function onUnanswered(attempt: RoundTrip, call: CallEvidence, { toolCrash, exit }: Evidence): Observed {
  const { broken: error, failure } = attempt;
  if (exit?.cause.includes(attempt.request.seq))
    return violated(exit.message, [attempt, { events: [exit.seq] }], { about: attempt.events });
  if (call.isCutShort || exit?.cutOff.has(attempt.request.seq))
    return unrecorded(`${CUT_SHORT} acknowledged the call`, attempt);
  const result = resultAfter(attempt, call);
  if (result) return violatedIfComplete('a result came, but no acknowledgement', [attempt, result]);
  if (call.timeout && failure !== 'cut' && failure !== 'failed')
    return violatedIfComplete(`no answer within ${formatDuration(call.timeout.afterMs)}`, attempt);
  if (!error) return unrecorded('an invocation was never answered', attempt);
  if (failure === 'aborted') return null;
  const size = attempt.request.body?.size ?? 0;
  const isCrash = toolCrash?.message === attempt;
  if (call.isHostile && size > LARGE_BODY && !attempt.isUnsent && !isCrash)
    return metWithNote(`the connection was closed while a body of ${bytesText(size)} came`, attempt);
  return error.phase === 'send' || error.phase === 'answer'
    ? violated(`the connection ended without an answer (${error.code})`, attempt, { advice: SEE_LOG })
    : unrecorded(`an invocation could not be sent (${error.code})`, attempt);
}

const SEE_LOG = 'Answer 200 before the work starts; the log of the tool may say why the connection ended.';

const NO_REDIRECT =
  "Runtimes do not follow redirects: put the URL that answers 200 into the toolset's endpoint.";

/** An invocation with members that the protocol defines is valid; a refusal because of unknown ones is judged by TOOL-EXTRA. */
function onRefusal(attempt: RoundTrip, call: CallEvidence, isLive: boolean): Observed {
  const { refusedMembers } = call;
  if (refusedMembers.length === 0) return onOtherStatus(attempt, call, isLive);
  const what = `answered ${attempt.status} to members that the protocol defines, and 200 without them`;
  return refusedMembers.filter(isDefined).map(member =>
    violated(what, attempt, {
      ...refusalDetails(attempt),
      name: visibleLine(memberText(member)),
      advice: 'Accept call_id, user_id and thread_ancestors, also where they are null.',
    }),
  );
}

/** A tool that requires credentials must be called again with them; a busy tool need not be wrong. */
function onOtherStatus(
  attempt: RoundTrip,
  { attempts, isHostile }: CallEvidence,
  isLive: boolean,
): Observation {
  const { status, request, response, isFailed, isRefused } = attempt;
  if (isHostile && isRefused)
    return metWithNote(`answered ${status} to a hostile text; better is 200, and an error result`, attempt);
  if (response && asksForCredentials(response.status, response.headers))
    return unrecorded(
      `answered ${status}: credentials are required${isLive ? ' (--bearer, --header)' : ''}`,
      attempt,
    );
  const wasAcceptedLater = attempts.some(each => each.status === 200 && each.request.seq > request.seq);
  return wasAcceptedLater && isFailed
    ? doubtful(`answered ${status}, and 200 when it was sent again`, attempt, refusalDetails(attempt))
    : violated(`answered ${status}`, attempt, {
        ...refusalDetails(attempt),
        ...(isRedirect(attempt) && { advice: NO_REDIRECT }),
      });
}

function isRedirect({ status }: RoundTrip): boolean {
  return status !== null && status >= 300 && status < 400;
}

function onBody(acknowledgement: RoundTrip, { callbacks: [first], ending }: CallEvidence): Observed {
  const { responseSize: size } = acknowledgement;
  const isOutcome = hasOutcome(acknowledgement);
  if (first) {
    if (isOutcome)
      return doubtful(
        'the acknowledgement has an outcome in its body, which no runtime reads',
        acknowledgement,
      );
    return size > 0
      ? metWithNote('the acknowledgement has a body, which no runtime reads', acknowledgement)
      : met([acknowledgement, first]);
  }
  if (ending.kind !== 'silent' || size === 0) return null;
  const actual = `a body of ${bytesText(size)}`;
  const what = `the acknowledgement has ${actual}, and no callback came within ${formatDuration(ending.afterMs)}`;
  const judged = isOutcome || size > MAX_OK_BYTES ? violatedIfComplete : doubtful;
  return judged(what, acknowledgement, { expected: 'an empty acknowledgement, and a callback', actual });
}

/** Whether an acknowledgement has what should be a callback, or an outcome in any other form. */
function hasOutcome({ response }: RoundTrip): boolean {
  const value = response?.body?.json.ok ? response.body.json.value : null;
  if (!isRecord(value)) return false;
  if (CALLBACK_TYPES.some(type => type === value['type'])) return true;
  return outcomeOfPayload(value) !== null || OUTCOME_MEMBERS.some(name => name in value);
}

type IsValidResult = (call: CallEvidence, text: string) => boolean;

/** Whether a call got the result of a valid call of the same operation; for an unknown operation, of any operation. */
function resultsOfValidCalls(calls: readonly CallEvidence[]): IsValidResult {
  const all = new Set<string>();
  for (const call of calls)
    if (call.flaw === null && !call.isHostile && call.ending.kind === 'result' && !call.ending.isError) {
      const text = withoutNames(call.ending.text, call);
      all.add(` ${text}`).add(`${call.tool?.name ?? ''} ${text}`);
    }
  return (call, text) => all.has(`${call.tool?.name ?? ''} ${withoutNames(text, call)}`);
}

/** Removes the ids of the call, which differ between calls. */
function withoutNames(text: string, { invocation }: CallEvidence): string {
  const { id = '', group_id = '', call_id } = invocation ?? {};
  return [id, group_id, call_id ?? '']
    .filter(name => name !== '')
    .reduce((rest, name) => rest.replaceAll(name, ''), text);
}

/** A refusal can be in any words and any language: only the result of a valid call proves the execution. */
function onExecution(call: CallEvidence, subject: string, isValidResult: IsValidResult): Observed {
  const { ending } = call;
  const other = call.received.find(({ message }) => message.type !== 'tool_result');
  if (other) {
    const what = `${subject} was started: a ${other.message.type} came`;
    const isError = ending.kind === 'result' && outcomeOfText(ending.text).type !== 'success';
    return isError ? doubtful(`${what}, and then an error`, other.callback) : violated(what, other.callback);
  }
  if (ending.kind === 'refused') return met(ending.attempt);
  if (ending.kind === 'silent')
    return inconclusive(`${subject} got no result within ${formatDuration(ending.afterMs)}`, call.attempts);
  if (ending.kind !== 'result') return null;
  const { callback, text, isError } = ending;
  if (isError) return met(callback);
  const proof = [...call.attempts, callback];
  const details = { ...NO_ERROR, spots: spotsOf(call, callback) };
  return isValidResult(call, text)
    ? violated(`${subject} was executed: its result is that of a valid call`, proof, details)
    : doubtful(`${subject} may have been executed: its result is not an error`, proof, details);
}

const NO_ERROR = { expected: 'an error result', actual: 'a result that is not an error' };

/** What was requested, and the result. */
function spotsOf({ attempts }: CallEvidence, result: CallbackEvidence): readonly Spot[] {
  const requested = attempts.flatMap(attempt => [
    requestSpot(attempt, 'operation'),
    requestSpot(attempt, 'arguments'),
  ]);
  return [...requested, ...resultSpots(result)];
}

const EXPECTED = '200, and an error result';

/** Whether no call got a callback, valid ones included: then the silence after an invalid one has the same cause. */
function neverCallsBack(calls: readonly CallEvidence[]): boolean {
  return (
    calls.every(({ callbacks }) => callbacks.length === 0) &&
    calls.some(({ flaw, ending }) => flaw === null && ending.kind === 'silent')
  );
}

const REDIRECTED = 'the tool redirects invocations, which runtimes do not follow (TOOL-ACK)';

/** What a handler behind the redirect would do is unknown. */
function isRedirected({ status }: RoundTrip): boolean {
  return status !== null && status >= 300 && status < 400;
}

/** An invalid call should be answered 200 and end in an error result. */
function onInvalid(call: CallEvidence, subject: string, isSilentTool: boolean): Observed {
  const { attempts, callbacks, ending } = call;
  const last = attempts.at(-1);
  if (last && isRedirected(last)) return unrecorded(REDIRECTED, last);
  if (last && last.status !== null && last.status !== 200)
    return violated(`${subject} was answered ${last.status}`, last, refusalDetails(last, EXPECTED));
  switch (ending.kind) {
    case 'result': {
      const proof = [...attempts, ending.callback];
      if (ending.isError) return met(proof);
      const { actual } = NO_ERROR;
      const details = { expected: EXPECTED, actual, spots: spotsOf(call, ending.callback) };
      return violated(`${subject} ended in ${actual}`, proof, details);
    }
    case 'silent': {
      if (isSilentTool) return unrecorded('no call of this tool got a callback (TOOL-ALWAYS)', attempts);
      const actual = `200, and nothing within ${formatDuration(ending.afterMs)}`;
      return violatedIfComplete(`${subject} was answered ${actual}`, attempts, {
        expected: EXPECTED,
        actual,
      });
    }
    case 'open':
      return unrecorded(`${subject} was still pending when the transcript ended`, attempts);
    case 'called-off':
      return null;
    default:
      return unrecorded(`${subject} had no outcome that can be judged`, [...attempts, ...callbacks]);
  }
}

function onMalformed(call: CallEvidence, isSilentTool: boolean): Observed {
  const attempt = call.attempts.at(-1);
  if (!attempt) return null;
  const { status, isRefused, request } = attempt;
  if (status === null) return onUnansweredMalformed(attempt, call);
  if (isRedirected(attempt)) return unrecorded(REDIRECTED, attempt);
  if (call.reading.ok) return met(attempt); // without a callback URL that can be used, any answer is right
  if (call.reading.addressee) return onInvalid(call, MALFORMED, isSilentTool);
  const json = request.body?.json;
  const isNotText = json?.ok === false && json.reason.includes('UTF-8');
  if (status === 200 || (isNotText && isRefused)) return met(attempt);
  return violated(`${MALFORMED} was answered ${status}`, attempt, refusalDetails(attempt));
}

function onUnansweredMalformed(attempt: RoundTrip, { isCutShort, timeout }: CallEvidence): Observation {
  const { broken: error, failure } = attempt;
  if (isCutShort) return unrecorded(`${CUT_SHORT} answered ${MALFORMED}`, attempt);
  if (error?.phase === 'connect')
    return unrecorded(`${MALFORMED} could not be sent (${error.code})`, attempt);
  if (error && (failure === 'cut' || failure === 'failed'))
    return violated(`the connection ended without an answer to ${MALFORMED} (${error.code})`, attempt);
  return failure === 'timed-out' || timeout
    ? violatedIfComplete(`${MALFORMED} was not answered`, attempt, { expected: '200' })
    : unrecorded(`${MALFORMED} was never answered`, attempt);
}
