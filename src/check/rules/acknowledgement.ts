import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { outcomeOfPayload } from '../../protocol/outcome.js';
import { bytesText, formatDuration } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import type { CallbackEvidence, CallEvidence, RoundTrip } from '../call.js';
import {
  broken,
  CALLBACK_RULES,
  defineRules,
  doubtful,
  held,
  heldBut,
  invocationPage,
  lacking,
  type Observation,
  unseen,
} from '../rule.js';

const MAX_ACK_MS = 1_000;

/** A shorter body is an `OK`; a longer one contains something. */
const MAX_OK_BYTES = 64;

/** Members that only an outcome would have. */
const OUTCOME_MEMBERS = ['text', 'content', 'result', 'output', 'outcome'];

export const acknowledgementRules = defineRules({
  'TOOL-ACK': {
    level: 'MUST',
    statement: 'answers 200 at once, before it does the work',
    advice: 'Answer 200 first, then start the work: over 250 ms is a warning, over 1 s a failure.',
    source: invocationPage('The tool MUST return HTTP 200 immediately to acknowledge receipt.'),
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
    observe: ({ calls, isProbed }) => {
      const repeats = repeatsIn(calls);
      return calls
        .filter(({ invocation }) => invocation)
        .flatMap(call =>
          call.attempts.flatMap(attempt => {
            if (attempt.status === null)
              return attempt === call.attempts.at(-1) ? onUnanswered(attempt, call) : [];
            if (attempt.status === 200)
              return onAnswered(attempt, call, repeats.get(contentOf(call)), isProbed);
            return call.flaw === null ? onRefused(attempt, call) : [];
          }),
        );
    },
  },
  'TOOL-ASYNC': {
    level: 'MUST',
    statement: "delivers every outcome as a callback, never in the acknowledgement's body",
    advice: 'Answer with an empty body, and POST the outcome to callback_url as a tool_result.',
    source: invocationPage('MUST process the request asynchronously'),
    masks: ['TOOL-ALWAYS', ...CALLBACK_RULES],
    absent: 'no acknowledged invocation had an outcome',
    observe: ({ calls }) =>
      calls.flatMap(call => {
        const acknowledgement = call.attempts.find(({ status }) => status === 200);
        return acknowledgement ? onBody(acknowledgement, call) : [];
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
    const before = best.get(contentOf(call));
    const result = resultAfter(attempt, call);
    best.set(contentOf(call), {
      ms: Math.min(attempt.latestAt - attempt.request.at, before?.ms ?? Number.POSITIVE_INFINITY),
      isInOrder: before?.isInOrder || !result || !isLate(attempt, result),
    });
  }
  return best;
}

/** Identifies what a call sends, apart from its ids. */
function contentOf({ invocation }: CallEvidence): string {
  return invocation ? JSON.stringify([invocation.operation, invocation.arguments]) : '';
}

/** The result of an attempt: an earlier one is of an earlier attempt. */
function resultAfter({ request }: RoundTrip, call: CallEvidence): CallbackEvidence | undefined {
  return call.firstAfter(request.seq, 'tool_result');
}

function isLate(attempt: RoundTrip, result: CallbackEvidence): boolean {
  return attempt.latestAt - result.request.at > ACK_TOLERANCE_MS;
}

function onAnswered(
  attempt: RoundTrip,
  call: CallEvidence,
  repeat: Repeat | undefined,
  isProbed: boolean,
): Observation {
  const result = resultAfter(attempt, call);
  const violated = isProbed ? lacking : broken; // the repeat that excuses it may be lost
  if (result && isLate(attempt, result))
    return repeat?.isInOrder && attempt.latestAt - result.latestAt <= MAX_ACK_MS
      ? doubtful('the 200 came after the result under load, and before it when called alone', [
          attempt,
          result,
        ])
      : violated('the 200 came after the result', [attempt, result]);
  const took = attempt.latestAt - attempt.request.at;
  const ms = Math.min(took, repeat?.ms ?? took);
  if (took <= ACK_SLOW_MS) return held(attempt);
  if (ms <= ACK_SLOW_MS) {
    const what = `the 200 took ${formatDuration(took)} under load, and ${formatDuration(ms)} when called alone`;
    return took > MAX_ACK_MS ? doubtful(what, attempt) : heldBut(what, attempt);
  }
  const what = `the 200 took ${formatDuration(ms)}${repeat ? ' when called alone' : ''}`;
  if (ms <= MAX_ACK_MS) return doubtful(`${what}, over ${ACK_SLOW_MS} ms`, attempt);
  return violated(what, attempt, { expected: `within ${MAX_ACK_MS} ms`, actual: formatDuration(ms) });
}

/** The last attempt of a call has no response. */
function onUnanswered(attempt: RoundTrip, call: CallEvidence): readonly Observation[] {
  const { broken: error, failure } = attempt;
  if (call.isCutShort)
    return [unseen('the tool crashed for another reason before it acknowledged the call', attempt)];
  const result = resultAfter(attempt, call);
  if (result) return [lacking('a result came, but no acknowledgement', [attempt, result])];
  if (call.timeout && failure !== 'cut' && failure !== 'failed')
    return [lacking(`no answer within ${formatDuration(call.timeout.afterMs)}`, attempt)];
  if (!error) return [unseen('an invocation was never answered', attempt)];
  if (failure === 'aborted') return [];
  return error.phase === 'send' || error.phase === 'answer'
    ? [broken(`the connection ended without an answer (${error.code})`, attempt)]
    : [unseen(`an invocation could not be sent (${error.code})`, attempt)];
}

/** A tool that requires credentials can be called again with them; one that was busy once may be right. */
function onRefused(attempt: RoundTrip, call: CallEvidence): Observation {
  const { status } = attempt;
  if (status === 401 || status === 403)
    return unseen(`answered ${status}: credentials are required (--bearer, --header)`, attempt);
  const wasAcceptedLater = call.attempts.some(
    each => each.status === 200 && each.request.seq > attempt.request.seq,
  );
  const details = { expected: '200', actual: String(status) };
  return wasAcceptedLater && attempt.isFailed
    ? doubtful(`answered ${status}, and 200 when it was sent again`, attempt, details)
    : broken(`answered ${status}`, attempt, details);
}

function onBody(acknowledgement: RoundTrip, { callbacks, ending }: CallEvidence): readonly Observation[] {
  const { responseSize: size } = acknowledgement;
  const isOutcome = hasOutcome(acknowledgement);
  const [first] = callbacks;
  if (first) {
    if (isOutcome)
      return [
        doubtful('the acknowledgement has an outcome in its body, which no runtime reads', acknowledgement),
      ];
    return size > 0
      ? [heldBut('the acknowledgement has a body, which no runtime reads', acknowledgement)]
      : [held([acknowledgement, first])];
  }
  if (ending.kind !== 'silent' || size === 0) return [];
  const actual = `a body of ${bytesText(size)}`;
  const what = `the acknowledgement has ${actual}, and no callback came within ${formatDuration(ending.afterMs)}`;
  const judged = isOutcome || size > MAX_OK_BYTES ? lacking : doubtful;
  return [judged(what, acknowledgement, { expected: 'an empty acknowledgement, and a callback', actual })];
}

/** Whether an acknowledgement has what should be a callback, or an outcome in any other form. */
function hasOutcome({ response }: RoundTrip): boolean {
  const value = response?.body?.json.ok ? response.body.json.value : null;
  if (!isRecord(value)) return false;
  if (CALLBACK_TYPES.some(type => type === value['type'])) return true;
  return outcomeOfPayload(value) !== null || OUTCOME_MEMBERS.some(name => name in value);
}
