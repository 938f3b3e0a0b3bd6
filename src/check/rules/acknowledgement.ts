import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { outcomeOfPayload } from '../../protocol/outcome.js';
import { formatDuration } from '../../util/format-duration.js';
import { bytesText, isRecord } from '../../util/json-diagnosis.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Evidence,
  endedAt,
  firstToldAfter,
  type Leg,
  statusOf,
  vainWait,
  waitedFor,
} from '../evidence.js';
import { breakOf, endingOf, OF_CALLBACKS, unacceptable } from '../evidence-queries.js';
import { broken, doubtful, held, heldBut, lacking, type Observation, type Rule, unseen } from '../judge.js';

/** The result that came of an attempt: what came before it was sent is of an attempt before it. */
function resultAfter(attempt: Leg, call: CallEvidence): CallbackEvidence | undefined {
  const after = firstToldAfter(attempt.request.seq, call, ({ type }) => type === 'tool_result');
  return after?.callback;
}

/** Whether an attempt was answered only once its result had come. */
function isBehind(attempt: Leg, result: CallbackEvidence): boolean {
  return (endedAt(attempt) ?? 0) - result.request.at > ACK_TOLERANCE_MS;
}

/** The best acknowledgement of a call that a check repeated with nothing else in progress. */
interface Repeated {
  readonly ms: number;
  readonly isInOrder: boolean;
  readonly how: string;
}

/** Finds the repeats of a call. A call that a check may not repeat is compared with the slowest one that it did. */
function repeatsIn(calls: readonly CallEvidence[]): (call: CallEvidence) => Repeated | undefined {
  const best = new Map<string, Repeated>();
  for (const call of calls) {
    const [attempt] = call.attempts;
    if (!attempt || statusOf(attempt) !== 200 || !call.plans.some(({ again }) => again)) continue;
    const before = best.get(sentBy(call));
    const result = resultAfter(attempt, call);
    best.set(sentBy(call), {
      ms: Math.min(waitedFor(attempt), before?.ms ?? Number.POSITIVE_INFINITY),
      isInOrder: before?.isInOrder || !result || !isBehind(attempt, result),
      how: 'when called alone',
    });
  }
  const [slowest] = [...best.values()].toSorted((one, other) => other.ms - one.ms);
  const others = slowest && { ...slowest, how: 'when other calls were made alone' };
  return call => best.get(sentBy(call)) ?? others;
}

/** Identifies what a call sends, apart from its ids. */
function sentBy({ reading }: CallEvidence): string {
  return reading.ok ? JSON.stringify([reading.invocation.operation, reading.invocation.arguments]) : '';
}

const LATEST_MS = 1_000;

/** Judges a 200: it must precede the result and arrive in time. Under load, the repeat of the call decides. */
function onAnswered(attempt: Leg, call: CallEvidence, { repeated, isProbed }: Terms): Observation {
  const result = resultAfter(attempt, call);
  const breach = isProbed ? lacking : broken; // a lost repeat may have been in time
  if (result && isBehind(attempt, result))
    return repeated?.isInOrder &&
      (endedAt(attempt) ?? 0) - (endedAt(result) ?? result.request.at) <= LATEST_MS
      ? doubtful(`the 200 came after the result under load, and before it ${repeated.how}`, [attempt, result])
      : breach('the 200 came after the result', [attempt, result]);
  const took = waitedFor(attempt);
  const ms = Math.min(took, repeated?.ms ?? took);
  if (took <= ACK_SLOW_MS) return held([attempt]);
  if (ms <= ACK_SLOW_MS) {
    const what = `the 200 took ${formatDuration(took)} under load, and ${formatDuration(ms)} ${repeated?.how}`;
    return took > LATEST_MS ? doubtful(what, [attempt]) : heldBut(what, [attempt]);
  }
  const what = `the 200 took ${formatDuration(ms)}${repeated ? ` ${repeated.how}` : ''}`;
  if (ms <= LATEST_MS) return doubtful(`${what}, over ${ACK_SLOW_MS} ms`, [attempt]);
  return breach(what, [attempt], { expected: `within ${LATEST_MS} ms`, actual: formatDuration(ms) });
}

/** Judges the last attempt of a call that was not answered. */
function onUnanswered(attempt: Leg, call: CallEvidence): readonly Observation[] {
  if (call.isCutShort)
    return [unseen('the tool crashed for another reason before it acknowledged the call', [attempt])];
  const { broken: end } = attempt;
  const how = breakOf(attempt);
  const result = resultAfter(attempt, call);
  if (result) return [lacking('a result came, but no acknowledgement', [attempt, result])];
  const wait = vainWait(call);
  if (wait && how !== 'cut' && how !== 'failed')
    return [lacking(`no answer within ${formatDuration(wait.afterMs)}`, [attempt])];
  if (!end) return [unseen('an invocation was never answered', [attempt])];
  if (how === 'called-off') return [];
  return isReached(end.phase)
    ? [broken(`the connection ended without an answer (${end.code})`, [attempt])]
    : [unseen(`an invocation could not be sent (${end.code})`, [attempt])];
}

function isReached(phase: string): boolean {
  return phase === 'send' || phase === 'answer';
}

/** TOOL-ACK: the 200 comes before the result, and soon. Another status for what must not be executed is of rules of its own. */
export const acknowledgesAtOnce: Rule = {
  id: 'TOOL-ACK',
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
  observe: (evidence: Evidence) => {
    const repeatOf = repeatsIn(evidence.calls);
    return evidence.calls
      .filter(({ reading }) => reading.ok)
      .flatMap(call => {
        const terms = {
          isSound: unacceptable(call, evidence) === null,
          repeated: repeatOf(call),
          isProbed: evidence.isProbed,
          takenAt: call.attempts.findLast(each => statusOf(each) === 200)?.request.seq ?? -1,
        };
        return call.attempts.flatMap(attempt => onAttempt(attempt, call, terms));
      });
  },
};

interface Terms {
  /** Whether the call is valid, so that 200 is expected. */
  readonly isSound: boolean;
  readonly repeated: Repeated | undefined;
  readonly isProbed: boolean;
  /** The `seq` of the last attempt that was answered 200; -1 if there is none. */
  readonly takenAt: number;
}

function onAttempt(attempt: Leg, call: CallEvidence, terms: Terms): readonly Observation[] {
  const status = statusOf(attempt);
  if (status === null) return attempt === call.attempts.at(-1) ? onUnanswered(attempt, call) : [];
  if (status !== 200) return terms.isSound ? [onRefused(attempt, status, terms)] : [];
  return [onAnswered(attempt, call, terms)];
}

/** Who wants credentials can be asked again with them; who was busy once may have been so rightly. */
function onRefused(attempt: Leg, status: number, { takenAt }: Terms): Observation {
  if (status === 401 || status === 403)
    return unseen(`answered ${status}: credentials are required (--bearer, --header)`, [attempt]);
  const wasTakenLater = takenAt > attempt.request.seq;
  const difference = { expected: '200', actual: String(status) };
  return wasTakenLater && status >= 500
    ? doubtful(`answered ${status}, and 200 when it was sent again`, [attempt], difference)
    : broken(`answered ${status}`, [attempt], difference);
}

/** Members that only what was asked for would have. */
const ANSWERS = ['text', 'content', 'result', 'output', 'outcome'];

/** The size of the response body in bytes, as far as it is known. */
export function bodySize({ response }: Leg): number {
  return response?.body?.size ?? Number(response?.headers['content-length'] ?? 0);
}

/** Whether an answer holds what should be a callback, or the outcome of a call in any other words. */
function carriesOutcome({ response }: Leg): boolean {
  const value = response?.body?.json.ok ? response.body.json.value : null;
  if (!isRecord(value)) return false;
  if (CALLBACK_TYPES.some(type => type === value['type'])) return true;
  return outcomeOfPayload(value) !== null || ANSWERS.some(name => name in value);
}

/** Bytes of a nod, such as `OK`: what is longer says something. */
const NOD = 64;
const EXPECTED = 'an empty acknowledgement, and a callback';

/** TOOL-ASYNC: the outcome goes to the callback URL, not into the acknowledgement. */
export const answersByCallback: Rule = {
  id: 'TOOL-ASYNC',
  masks: ['TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no acknowledged invocation had an outcome',
  observe: ({ calls }) =>
    calls.flatMap(call => {
      const acknowledgement = call.attempts.find(attempt => statusOf(attempt) === 200);
      return acknowledgement ? onAcknowledged(acknowledgement, call) : [];
    }),
};

function onAcknowledged(acknowledgement: Leg, call: CallEvidence): readonly Observation[] {
  const ending = endingOf(call);
  if (call.callbacks.length > 0) return [besideCallback(acknowledgement, call)];
  const size = bodySize(acknowledgement);
  if (ending.kind !== 'silent' || size === 0) return [];
  const what = `the acknowledgement has a body of ${bytesText(size)}, and no callback came within ${formatDuration(ending.afterMs)}`;
  const difference = { expected: EXPECTED, actual: `a body of ${bytesText(size)}` };
  return carriesOutcome(acknowledgement) || size > NOD
    ? [lacking(what, [acknowledgement], difference)]
    : [doubtful(what, [acknowledgement], difference)];
}

function besideCallback(acknowledgement: Leg, { callbacks }: CallEvidence): Observation {
  const size = bodySize(acknowledgement);
  if (carriesOutcome(acknowledgement))
    return doubtful('the acknowledgement has an outcome in its body, which no runtime reads', [
      acknowledgement,
    ]);
  if (size > 0) return heldBut('the acknowledgement has a body, which no runtime reads', [acknowledgement]);
  return held([acknowledgement, ...callbacks.slice(0, 1)]);
}
