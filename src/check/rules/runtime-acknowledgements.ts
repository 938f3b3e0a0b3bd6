import type { RoundTrip } from '../../events/round-trips.js';
import { formatDuration } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import type { DriverEvidence, RequestedCall } from '../driver-evidence.js';
import { isErrorText } from '../error-text.js';
import type { Evidence } from '../evidence.js';
import { judgeRetries, pausesBetween } from '../retries.js';
import {
  defineRules,
  doubtful,
  met,
  type Observed,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { statusMismatch } from '../rule-details.js';
import { hasOddSegment } from './segment-types.js';

/** Minimum total of all pauses, in ms. */
const MIN_TOTAL_MS = 100;

/** Minimum time to show that no retry comes, in ms. */
const MIN_WATCH_MS = 2_000;

/** A pause this many times longer than every earlier one ends the retries. */
const PAUSE_GROWTH = 3;

/** How long another call may take to be sent, in ms. */
const MAX_SENDING_MS = 2_000;

/** How a runtime takes the acknowledgements of its invocations, and acknowledges callbacks itself. */
export const runtimeAcknowledgementRules = defineRules({
  'RT-NON200': {
    level: 'SHOULD',
    statement: 'turns any acknowledgement other than 200 into a failed result with a description',
    advice: 'End the call with an error result that names the status; do not wait for a callback.',
    invocationPage:
      'Any other non-200 status indicates the tool could not accept the invocation, and the runtime SHOULD record the failure as a tool result with an error description, allowing the LLM to reason about it.',
    needs: ['failure'],
    absent: 'not recorded by a runtime, or every acknowledgement was 200',
    observe: ({ calls, observer, requestedCalls, driver, until }) => {
      if (driver) return requestedCalls.map(each => judgeRefusedCall(each, driver, until));
      return observer === 'runtime' ? calls.map(judgeOtherStatus) : null;
    },
  },
  'RT-RETRY': {
    level: 'SHOULD',
    statement: 'retries an unreachable tool or a 5xx with exponential backoff',
    advice: 'Retry an invocation after a 5xx or a failed connection, with growing pauses.',
    absent: 'no invocation got a 5xx or a connection failure',
    observe: evidence =>
      evidence.calls.map(call => judgeRetryAfter200(call) ?? judgeFailedAttempt(call, evidence)),
  },
  'RT-NORETRY': {
    level: 'MUST',
    statement: 'never retries a 4xx',
    advice: 'End the call with an error result after the first 4xx.',
    absent: 'no invocation was answered 4xx',
    observe: ({ calls, until }) =>
      calls.map(({ attempts }) => {
        const index = attempts.findIndex(({ isRefused }) => isRefused);
        const refused = attempts[index];
        if (!refused) return null;
        const next = attempts[index + 1];
        return next
          ? violated(`sent again after a ${refused.status}`, [refused, next])
          : met(refused, `not within ${formatDuration(until - refused.latestAt)}`);
      }),
  },
  'RT-ACK': {
    level: 'SHOULD',
    statement: 'answers every callback that matches a call with 200, also one that is late or repeated',
    advice: 'Answer 200 to each callback that you received, also if you discard it as late or repeated.',
    resultPage: 'The callback endpoint SHOULD return HTTP 200 on successful receipt.',
    absent: 'no callback that matches a call was answered',
    observe: ({ calls, driver }) => calls.map(call => judgeReceipt(call, driver)),
  },
  'RT-TIMEOUT': {
    level: 'none',
    statement: 'records a timeout result if it has a timeout of its own',
    advice: 'Record a result that says that the call timed out.',
    invocationPage: 'the protocol defines no timeout',
    needs: ['failure'],
    absent: 'not visible in HTTP traffic, or no call timed out',
    observe: ({ requestedCalls, driver, until }) => [
      requestedCalls.map(each => (driver?.instructions('cancel').length === 0 ? judgeTimeout(each) : null)),
      requestedCalls.map(each => judgeHangingAcknowledgement(each, requestedCalls, until)),
    ],
  },
});

/** Only a runtime's own transcript shows how it handled the status. */
function judgeOtherStatus({ attempts, callbacks, decisions, expiries }: CallEvidence): Observed {
  const last = attempts.at(-1);
  if (!last || last.status === null || last.status === 200) return null;
  if (decisions.some(({ what }) => what === 'give-up')) return met(last);
  const result = callbacks.find(({ message }) => message?.type === 'tool_result');
  if (result && result.request.at < last.request.at) return null; // the tool has the call, with any status
  const what = `continued to wait after the acknowledgement ${last.status}`;
  if (expiries.length > 0) return violated(what, last);
  if (result) return violatedIfComplete(what, [last, result]); // the lost event may show that it gave up
  return unrecorded(
    `the transcript does not show how the runtime handled the acknowledgement ${last.status}`,
    last,
  );
}

/** The model must get one failed result, and nothing else. */
function judgeRefusedCall({ call, answers }: RequestedCall, driver: DriverEvidence, until: number): Observed {
  const last = call?.attempts.at(-1);
  if (!call || !last || call.callbacks.length > 0) return null; // a tool that called back has the invocation
  const index = call.attempts.findIndex(({ status }) => status !== null && status > 200 && status < 400);
  const [refused, again] = index < 0 ? [] : call.attempts.slice(index);
  if (refused && again)
    return violated(`sent again after the acknowledgement ${refused.status}`, [refused, again]);
  if (last.status === null || last.status === 200) return null;
  const after = `after the acknowledgement ${last.status}`;
  const given = answers.filter(({ event }) => event.seq < driver.mayIgnoreFromSeq);
  if (given.length > 0) return judgeFailedResult(call, last, given, after);
  if (driver.isAnonymous || mayRetry(call, driver.endRequestedAt ?? until)) return null;
  const [late] = answers;
  return late
    ? violatedIfComplete(
        `the model got no failed result before the runtime was asked to end or to cancel, ${after}`,
        [last, late],
      )
    : violatedIfComplete(`the model got no failed result ${after}`, last);
}

function judgeFailedResult(
  { invocation }: CallEvidence,
  last: RoundTrip,
  answers: RequestedCall['answers'],
  after: string,
): Observed {
  const proof = [last, ...answers];
  if (answers.length > 1) return violated(`the model got more than one result ${after}`, proof);
  const { saw, text = '' } = answers[0]?.message ?? {};
  if (text.trim() === '') return violated(`the failed result ${after} has no description`, proof);
  return saw === 'failure' || isErrorText(text, invocation)
    ? met(proof)
    : violated(`the model got a result that is not an error ${after}`, proof);
}

/** Whether a runtime may still retry a failed call: it has not paused for much longer than before. */
function mayRetry({ attempts }: CallEvidence, until: number): boolean {
  const last = attempts.at(-1);
  if (!last?.isFailed) return false;
  const pauses = pausesBetween(attempts);
  return (
    pauses.length === 0 || until - last.latestAt < Math.max(MIN_WATCH_MS, PAUSE_GROWTH * Math.max(...pauses))
  );
}

/** With an empty body, the acknowledgement may have been lost on its way. */
function judgeRetryAfter200({ attempts, isAcknowledgedWithBody }: CallEvidence): Observed {
  const index = attempts.findIndex(({ status }) => status === 200);
  const [acknowledged, again] = index < 0 ? [] : attempts.slice(index);
  if (!acknowledged || !isAcknowledgedWithBody) return null;
  return again
    ? violated('sent again after a 200 with a body, which a runtime does not read', [acknowledged, again])
    : met(acknowledged, 'not sent again');
}

function judgeFailedAttempt(call: CallEvidence, { requestedCalls, until, exit }: Evidence): Observed {
  const { attempts, callbacks, decisions } = call;
  const index = attempts.findIndex(({ isFailed }) => isFailed);
  const [failed, next] = index < 0 ? [] : attempts.slice(index);
  if (!failed || exit?.open.some(({ key }) => key === call.key)) return null; // a server that exited gets no retry
  const [failure] = requestedCalls.find(each => each.call === call)?.answers ?? [];
  const nextAt = next?.request.at ?? failure?.event.at ?? Number.POSITIVE_INFINITY;
  if (callbacks.some(({ request }) => request.at < nextAt)) return null; // a tool that called back has the invocation
  if (next)
    return judgeRetries(attempts, pauses => pauses.reduce((sum, pause) => sum + pause) < MIN_TOTAL_MS);
  if (failure) return violatedIfComplete('the runtime gave up without a retry', [failed, failure]);
  if (decisions.some(({ what }) => what === 'give-up'))
    return violatedIfComplete('the runtime gave up without a retry', failed);
  const watched = until - (failed.end?.at ?? until);
  return (watched >= MIN_WATCH_MS ? violatedIfComplete : unrecorded)(
    `no retry within ${formatDuration(watched)}`,
    failed,
  );
}

/** A call that was accepted, and failed before its tool sent anything. */
function judgeTimeout({ call, answers: [first] }: RequestedCall): Observed {
  const last = call?.attempts.at(-1);
  if (!call || !first || last?.status !== 200 || call.callbacks.length > 0) return null;
  const after = `after ${formatDuration(first.event.at - last.request.at)}`;
  return isErrorText(first.message.text, call.invocation) ? met([last, first], after) : null;
}

/** A runtime never waits for a tool: neither for a result nor for an acknowledgement. */
function judgeHangingAcknowledgement(
  hanging: RequestedCall,
  requestedCalls: readonly RequestedCall[],
  until: number,
): Observed {
  const [first] = hanging.call?.attempts ?? [];
  if (!first || !hanging.call?.plans.some(({ plan }) => plan === 'ack hang')) return null;
  const late = requestedCalls
    .filter(({ event, argumentFaults }) => event.seq > first.request.seq && argumentFaults?.length === 0)
    .find(({ event, call }) => (call?.attempts[0]?.request.at ?? until) - event.at > MAX_SENDING_MS);
  return late
    ? doubtful('another call was not sent while the acknowledgement of this one was missing', [first, late])
    : null;
}

/** Statuses with which a runtime says that it did not take the callback: the tool may send it again, or a smaller one. */
const NOT_RECEIVED = [408, 413, 429];

/** A refusal is right if the callback is invalid or matches no call, and if its thread has ended. */
function judgeReceipt(
  { attempts, callbacks, closes: [close] }: CallEvidence,
  driver: DriverEvidence | null,
): Observed {
  if (!attempts.some(({ status }) => status === 200)) return null; // the runtime may have ended the call
  const end = close?.request.seq ?? driver?.instructions('end')[0]?.event.seq ?? Number.POSITIVE_INFINITY;
  return callbacks.map(callback => {
    const { status, hasJsonType, lastSeq, isRefused } = callback;
    const name = nameOfReceived(callback);
    if (status === null || status >= 500 || NOT_RECEIVED.includes(status) || lastSeq > end) return null;
    if (name === null || !hasJsonType || (isRefused && isJudgedElsewhere(callback))) return null;
    if (status === 200) return met(callback);
    return violated(`${name} was answered ${status}`, callback, statusMismatch(callback));
  });
}

/** Null for a callback that is invalid or matches no call. */
function nameOfReceived({ verdict }: CallbackEvidence): string | null {
  switch (verdict?.kind) {
    case 'settles':
    case 'holds':
    case 'noted':
      return 'a callback';
    case 'late':
      return 'a late callback';
    case 'duplicate':
      return verdict.identical ? 'a repeated callback' : 'a further result';
    default:
      return null;
  }
}

/**
 * RT-SUB and RT-VIEW judge refused events and views, RT-DISPLAY refused segments. The call of a further, different result is not pending
 * (RT-MATCH).
 */
function isJudgedElsewhere({ message, verdict }: CallbackEvidence): boolean {
  if (message?.type === 'subscription_event' || message?.type === 'view_update') return true;
  if (message?.type === 'tool_result' && hasOddSegment(message)) return true;
  return verdict?.kind === 'duplicate' && !verdict.identical;
}
