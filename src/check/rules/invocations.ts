import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { outcomeOfText } from '../../protocol/outcome.js';
import { formatDuration, joinFirst } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import { isDefined, memberText } from '../members.js';
import {
  defineRules,
  doubtful,
  inconclusive,
  met,
  type Observation,
  type Observed,
  requestSpot,
  type Spot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { refusalDetails, resultSpots, toolCrashObservation } from '../rule-details.js';

const VALIDATION =
  'For any validation failure — malformed payload, unknown operation, invalid arguments — the tool SHOULD still return HTTP 200 to acknowledge receipt, then deliver the error asynchronously as a tool result with an error description.';

const MALFORMED = 'a malformed payload';

/** What a tool must not execute. */
const SUBJECTS = {
  'unknown-operation': 'an unknown operation',
  'bad-arguments': 'a call whose arguments do not match its inputSchema',
};

/** How a tool takes calls that it must not execute. */
export const invocationRules = defineRules({
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
        return judgeRefusedMembers(call) ?? judgeExecution(call, SUBJECTS[call.flaw], isValidResult);
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
        .map(call => judgeRefusedMembers(call) ?? judgeInvalid(call, 'an unknown operation', isSilentTool));
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
          call =>
            judgeRefusedMembers(call) ?? judgeInvalid(call, 'a call with invalid arguments', isSilentTool),
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
      return crash ?? malformed.map(call => judgeMalformed(call, isSilentTool));
    },
  },
});

/** Maximum number of members that a reason names. */
const MAX_MEMBERS = 3;

/** A call that was refused because of other members shows nothing about its operation and its arguments. */
function judgeRefusedMembers({ refusedMembers: members, attempts }: CallEvidence): Observation | null {
  if (members.length === 0) return null;
  const names = visibleLine(joinFirst(members.map(memberText), MAX_MEMBERS));
  const rule = members.some(isDefined) ? 'TOOL-ACK' : 'TOOL-EXTRA';
  return inconclusive(`the call was refused because of ${names} (${rule})`, attempts);
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

const NO_ERROR = { expected: 'an error result', actual: 'a result that is not an error' };

/** A refusal can be in any words and any language: only the result of a valid call proves the execution. */
function judgeExecution(call: CallEvidence, subject: string, isValidResult: IsValidResult): Observed {
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

/** What was requested, and the result. */
function spotsOf({ attempts }: CallEvidence, result: CallbackEvidence): readonly Spot[] {
  const requested = attempts.flatMap(attempt => [
    requestSpot(attempt, 'operation'),
    requestSpot(attempt, 'arguments'),
  ]);
  return [...requested, ...resultSpots(result)];
}

/** Whether no call got a callback, valid ones included: then the silence after an invalid one has the same cause. */
function neverCallsBack(calls: readonly CallEvidence[]): boolean {
  return (
    calls.every(({ callbacks }) => callbacks.length === 0) &&
    calls.some(({ flaw, ending }) => flaw === null && ending.kind === 'silent')
  );
}

const EXPECTED = '200, and an error result';

/** What a handler behind a redirect would do is unknown. */
const REDIRECTED = 'the tool redirects invocations, which runtimes do not follow (TOOL-ACK)';

/** An invalid call should be answered 200 and end in an error result. */
function judgeInvalid(call: CallEvidence, subject: string, isSilentTool: boolean): Observed {
  const { attempts, callbacks, ending } = call;
  const last = attempts.at(-1);
  if (last?.isRedirected) return unrecorded(REDIRECTED, last);
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

function judgeMalformed(call: CallEvidence, isSilentTool: boolean): Observed {
  const attempt = call.attempts.at(-1);
  if (!attempt) return null;
  const { status, isRefused, request } = attempt;
  if (status === null) return judgeUnansweredMalformed(attempt, call);
  if (attempt.isRedirected) return unrecorded(REDIRECTED, attempt);
  if (call.reading.ok) return met(attempt); // without a callback URL that can be used, any answer is right
  if (call.reading.addressee) return judgeInvalid(call, MALFORMED, isSilentTool);
  const json = request.body?.json;
  const isNotText = json?.ok === false && json.reason.includes('UTF-8');
  if (status === 200 || (isNotText && isRefused)) return met(attempt);
  return violated(`${MALFORMED} was answered ${status}`, attempt, refusalDetails(attempt));
}

function judgeUnansweredMalformed(attempt: RoundTrip, { isInterrupted, timeout }: CallEvidence): Observation {
  const { broken: error, failure } = attempt;
  if (isInterrupted) return unrecorded(`the tool crashed before it answered ${MALFORMED}`, attempt);
  if (error?.phase === 'connect')
    return unrecorded(`${MALFORMED} could not be sent (${error.code})`, attempt);
  if (error && (failure === 'cut' || failure === 'failed'))
    return violated(`the connection ended without an answer to ${MALFORMED} (${error.code})`, attempt);
  return failure === 'timed-out' || timeout
    ? violatedIfComplete(`${MALFORMED} was not answered`, attempt, { expected: '200' })
    : unrecorded(`${MALFORMED} was never answered`, attempt);
}
