import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import type { RoundTrip } from '../../events/round-trips.js';
import { isOutcomeInAcknowledgement } from '../../protocol/acknowledgement.js';
import { asksForCredentials } from '../../util/headers.js';
import { bytesText, formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import type { Evidence } from '../evidence.js';
import { isDefined, memberText } from '../members.js';
import { contentOf, firstCallbackAfter } from '../recorded-call.js';
import {
  defineRules,
  doubtful,
  interrupted,
  met,
  metWithNote,
  type Observation,
  type Observed,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { CALLBACK_RULES, refusalDetails } from '../rule-details.js';

/** How a tool acknowledges invocations. */
export const acknowledgementRules = defineRules({
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
            return judgeAcknowledged(attempt, call, repeats.get(contentOf(call)), evidence);
          if (attempt.status !== null)
            return call.flaw === null ? judgeRefusal(attempt, call, evidence.isLive) : null;
          return attempt === call.attempts.at(-1) ? judgeUnanswered(attempt, call, evidence) : null;
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
        return acknowledgement ? judgeBody(acknowledgement, call) : null;
      }),
  },
});

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
    const content = contentOf(call);
    const { ms = Number.POSITIVE_INFINITY, isInOrder = false } = best.get(content) ?? {};
    best.set(content, {
      ms: Math.min(attempt.latestAt - attempt.request.at, ms),
      isInOrder: isInOrder || !resultBefore(attempt, call),
    });
  }
  return best;
}

/** The result of an attempt: an earlier one is of an earlier attempt. */
function resultAfter({ request }: RoundTrip, call: CallEvidence): CallbackEvidence | undefined {
  return firstCallbackAfter(request.seq, call, 'tool_result');
}

/** The result that came before the acknowledgement. */
function resultBefore(attempt: RoundTrip, call: CallEvidence): CallbackEvidence | null {
  const result = resultAfter(attempt, call);
  return result && attempt.latestAt - result.request.at > ACK_TOLERANCE_MS ? result : null;
}

/** A tool acknowledges a call within this time, in ms. */
const MAX_ACK_MS = 1_000;

function judgeAcknowledged(
  attempt: RoundTrip,
  call: CallEvidence,
  repeat: Repeat | undefined,
  { isProbed, exit }: Evidence,
): Observation {
  const lateViolation = isProbed ? violatedIfComplete : violated; // the repeat that disproves it may be lost
  const result = resultBefore(attempt, call);
  const isLate = result !== null || attempt.latestAt - attempt.request.at > ACK_SLOW_MS;
  if (isLate && isProbed && exit && !repeat)
    return interrupted('a 200 was late, and the server exited before the call was repeated alone', attempt);
  if (result)
    return repeat?.isInOrder && attempt.latestAt - result.latestAt <= MAX_ACK_MS
      ? doubtful('the 200 came after the result under load, and before it when called alone', [
          attempt,
          result,
        ])
      : lateViolation('the 200 came after the result', [attempt, result]);
  return judgeSlow(attempt, repeat, isProbed);
}

/** A connection beyond the listen backlog is tried again by the system after a second. */
const QUEUE_ADVICE =
  'Answer 200 before the work starts. If it does, its queue of new connections is too short: request_queue_size = 128 in http.server of Python.';

/** Judges how long a call took to be acknowledged. */
function judgeSlow(attempt: RoundTrip, repeat: Repeat | undefined, isProbed: boolean): Observation {
  const took = attempt.latestAt - attempt.request.at;
  const ms = Math.min(took, repeat?.ms ?? took);
  if (took <= ACK_SLOW_MS) return met(attempt);
  if (ms <= ACK_SLOW_MS) {
    const what = `the 200 took ${formatDuration(took)} under load, and ${formatDuration(ms)} when called alone`;
    return (took > MAX_ACK_MS ? doubtful : metWithNote)(what, attempt, { advice: QUEUE_ADVICE });
  }
  const what = `the 200 took ${formatDuration(ms)}${repeat ? ' when called alone' : ''}`;
  if (ms <= MAX_ACK_MS) return doubtful(`${what}, over ${ACK_SLOW_MS} ms`, attempt);
  if (isProbed && !repeat)
    return { ...doubtful(`${what}; the call was not repeated alone`, attempt), isByAbsence: true };
  const violation = isProbed ? violatedIfComplete : violated;
  return violation(what, attempt, { expected: `within ${MAX_ACK_MS} ms`, actual: formatDuration(ms) });
}

/** A server may close the connection instead of reading a body beyond its limit. */
const LARGE_BODY = 64 * 1024;

const SEE_LOG = 'Answer 200 before the work starts; the log of the tool may say why the connection ended.';

/** The last attempt of a call has no response. */
function judgeUnanswered(attempt: RoundTrip, call: CallEvidence, { toolCrash, exit }: Evidence): Observed {
  const { broken: error, failure } = attempt;
  if (exit?.cause.includes(attempt.request.seq))
    return violated(exit.message, [attempt, { events: [exit.seq] }], { about: attempt.events });
  if (call.isInterrupted || exit?.interruptedEvents.has(attempt.request.seq))
    return unrecorded('the tool crashed before it acknowledged the call', attempt);
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

/** An invocation with members that the protocol defines is valid; a refusal because of unknown ones is judged by TOOL-EXTRA. */
function judgeRefusal(attempt: RoundTrip, call: CallEvidence, isLive: boolean): Observed {
  const { refusedMembers } = call;
  if (refusedMembers.length === 0) return judgeOtherStatus(attempt, call, isLive);
  const what = `answered ${attempt.status} to members that the protocol defines, and 200 without them`;
  return refusedMembers.filter(isDefined).map(member =>
    violated(what, attempt, {
      ...refusalDetails(attempt),
      name: visibleLine(memberText(member)),
      advice: 'Accept call_id, user_id and thread_ancestors, also where they are null.',
    }),
  );
}

const NO_REDIRECT =
  "Runtimes do not follow redirects: put the URL that answers 200 into the toolset's endpoint.";

const NO_ROUTE =
  "If nothing is served at the toolset's endpoint, correct the endpoint or the route of the tool; answer a call that you refuse with 200, and an error result.";

/** A tool that requires credentials must be called again with them; a busy tool need not be wrong. */
function judgeOtherStatus(
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
        ...(attempt.isRedirected && { advice: NO_REDIRECT }),
        ...(status === 404 && { advice: NO_ROUTE }),
      });
}

/** A shorter body may be an `OK`; a longer one has content. */
const MAX_OK_BYTES = 64;

function judgeBody(acknowledgement: RoundTrip, { callbacks: [first], ending }: CallEvidence): Observed {
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

function hasOutcome({ response }: RoundTrip): boolean {
  return response?.body?.json.ok === true && isOutcomeInAcknowledgement(response.body.json.value);
}
