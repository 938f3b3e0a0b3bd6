import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { ownTime } from '../../events/log.js';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { outcomeOfPayload } from '../../protocol/outcome.js';
import { formatDuration } from '../../util/format-duration.js';
import { bytesText, isRecord } from '../../util/json-diagnosis.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Discovery,
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

/** How a call was acknowledged when it was made again with nothing else under way, by the best of its tries. */
interface Alone {
  /** Beyond what the toolset takes at that time: the machine may be busy, or the tool far away. */
  readonly ms: number;
  /** What of the toolset's time was taken off for that, in ms. */
  readonly offMs: number;
  /** Whether the 200 came before the result. */
  readonly isInOrder: boolean;
  /** It was not made again itself: this is the worst of those that were. */
  readonly isOthers?: true;
}

/** By what a call sends, how it went alone; undefined where nobody knows. */
function madeAlone({ calls, discoveries }: Evidence): (call: CallEvidence) => Alone | undefined {
  const best = new Map<string, Alone>();
  for (const call of calls.filter(isMadeAgain)) {
    const tried = tryOf(call, discoveries);
    if (tried) best.set(sentBy(call), better(tried, best.get(sentBy(call))));
  }
  const others = worstOf([...best.values()]);
  return call => best.get(sentBy(call)) ?? others;
}

function isMadeAgain({ plans }: Pick<CallEvidence, 'plans'>): boolean {
  return plans.some(({ again }) => again);
}

/**
 * Once some are late alone, a check makes no others again, and what only may be called once it never does: that others were late too tells
 * more of the check, or of the machine, than of the tool.
 */
function worstOf(alone: readonly Alone[]): Alone | undefined {
  const [worst] = alone.toSorted((one, other) => other.ms - one.ms);
  const isInOrder = alone.every(each => each.isInOrder);
  return worst && { ...worst, isInOrder, isOthers: true };
}

/** What is the same whenever a call is made again. */
function sentBy({ reading }: CallEvidence): string {
  return reading.ok ? JSON.stringify([reading.invocation.operation, reading.invocation.arguments]) : '';
}

function tryOf(call: CallEvidence, discoveries: readonly Discovery[]): Alone | null {
  const [attempt] = call.attempts;
  const took = attempt && statusOf(attempt) === 200 ? roundTrip(attempt) : null;
  if (!attempt || took === null) return null;
  const result = resultAfter(attempt, call);
  return {
    ...ownTime(took, usualAround(attempt, discoveries)),
    isInOrder: result === undefined || !isBehind(attempt, result),
  };
}

function better(one: Alone, other: Alone = one): Alone {
  const best = one.ms <= other.ms ? one : other;
  return { ...best, isInOrder: one.isInOrder || other.isInOrder };
}

/** What the toolset took just before an attempt or just after it, in ms: the less of the two. */
function usualAround({ request, response }: Leg, discoveries: readonly Discovery[]): number {
  const answered = discoveries.filter(discovery => statusOf(discovery) === 200);
  const before = answered.findLast(each => (each.response?.seq ?? 0) < request.seq);
  const after = answered.find(each => each.request.seq > (response?.seq ?? 0));
  const around = [before, after].flatMap(each => (each && roundTrip(each)) ?? []);
  return around.length > 0 ? Math.min(...around) : 0;
}

function roundTrip(leg: Leg): number | null {
  const ended = endedAt(leg);
  return ended === null ? null : ended - leg.request.at;
}

/** A 200, the result that came of it, and how it went when the same was called alone, where that is known. */
interface Answered {
  readonly attempt: Leg;
  readonly result: CallbackEvidence | undefined;
  readonly alone: Alone | undefined;
  /** Whether whoever called it calls what is late again, alone. */
  readonly isRepeated: boolean;
}

const LATEST_MS = 1_000;
/** A machine is hardly so busy for longer. */
const BUSY_MS = 3_000;
/** A round trip over an ocean: what the toolset takes beyond that is hardly the way there. */
const FAR_MS = 150;
/** Less of what was taken off is not worth a word, in ms. */
const TELLING_MS = 1;

/** Whether a 200 came before the result, and soon. What is so alone, and not among many calls, may be the machine's doing, and may not. */
function onAnswered(answered: Answered): Observation {
  const { attempt, result } = answered;
  return result && isBehind(attempt, result) ? outOfOrder(result, answered) : inTime(answered);
}

function outOfOrder(result: CallbackEvidence, { attempt, alone, isRepeated }: Answered): Observation {
  const behind = (endedAt(attempt) ?? 0) - (endedAt(result) ?? result.request.at);
  const what = 'the 200 came after the result';
  if (alone?.isInOrder && behind <= LATEST_MS)
    return doubtful(`${what} among many calls, and before it when ${whichAlone(alone)}`, [attempt, result]);
  return breach(isRepeated)(what, [attempt, result]);
}

function inTime({ attempt, alone, isRepeated }: Answered): Observation {
  const among = waitedFor(attempt);
  if (among <= ACK_SLOW_MS) return held([attempt]);
  const isTooLate = alone?.isOthers && alone.ms <= ACK_SLOW_MS && among > BUSY_MS;
  const ms = isTooLate ? among : Math.min(among, alone?.ms ?? among);
  if (alone && ms <= ACK_SLOW_MS) return inTimeAlone(among, attempt, alone);
  const took = `the 200 took ${formatDuration(ms)}${isTooLate ? '' : aloneWords(alone)}`;
  return ms > LATEST_MS
    ? breach(isRepeated)(took, [attempt], {
        expected: `within ${LATEST_MS} ms`,
        actual: formatDuration(ms),
      })
    : doubtful(`${took}, over ${ACK_SLOW_MS} ms`, [attempt]);
}

/** No machine is busy by rule: who is very late now and then, or as slow as its toolset, may wait for the work. */
function inTimeAlone(among: number, attempt: Leg, alone: Alone): Observation {
  const late = `the 200 took ${formatDuration(among)} among many calls, and in time when ${whichAlone(alone)}${takenOff(alone)}`;
  const isBarely = alone.offMs > FAR_MS && alone.ms + alone.offMs > ACK_SLOW_MS;
  return among > LATEST_MS || isBarely ? doubtful(late, [attempt]) : heldBut(late, [attempt]);
}

/** Where it was called again alone, and a part of that is lost, nobody knows. */
function breach(isRepeated: boolean): typeof broken {
  return isRepeated ? lacking : broken;
}

function aloneWords(alone: Alone | undefined): string {
  if (!alone) return '';
  return `, ${alone.isOthers ? 'as others did that were called alone' : 'called alone'}${takenOff(alone)}`;
}

function whichAlone({ isOthers }: Alone): string {
  return isOthers ? 'others were called alone' : 'the same was called alone';
}

function takenOff({ offMs }: Alone): string {
  return offMs < TELLING_MS ? '' : ` (not counting ${formatDuration(offMs)} that the toolset took as well)`;
}

/** A machine is hardly too busy to answer at all for longer. */
const UNANSWERED_BUSY_MS = 3_000;
const ELSE_PROMPT = 'and in time when the same was called at another time';

/** Of the last attempt of a call. @param isElsePrompt whether the same was acknowledged in time when it was called at another time */
function onUnanswered(attempt: Leg, call: CallEvidence, isElsePrompt: boolean): readonly Observation[] {
  if (call.isCutShort)
    return [unseen('the tool died of something else before it acknowledged a call', [attempt])];
  const { broken: end } = attempt;
  const how = breakOf(attempt);
  const waited = waitedFor(attempt);
  if (isElsePrompt && how === 'timed-out' && waited <= UNANSWERED_BUSY_MS)
    return [doubtful(`no answer within ${formatDuration(waited)}, ${ELSE_PROMPT}`, [attempt])];
  const result = resultAfter(attempt, call);
  if (result) return [lacking('a result came, and no acknowledgement', [attempt, result])];
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
    const aloneOf = madeAlone(evidence);
    const prompt = new Set(evidence.calls.filter(isPrompt).map(sentBy));
    return evidence.calls
      .filter(({ reading }) => reading.ok)
      .flatMap(call => {
        const terms = {
          isSound: unacceptable(call, evidence) === null,
          isElsePrompt: prompt.has(sentBy(call)),
          alone: aloneOf(call),
          isRepeated: evidence.isProbed,
          takenAt: call.attempts.findLast(each => statusOf(each) === 200)?.request.seq ?? -1,
        };
        return call.attempts.flatMap(attempt => onAttempt(attempt, call, terms));
      });
  },
};

interface Terms {
  /** Whether it is to be answered 200. */
  readonly isSound: boolean;
  /** Whether the same call was acknowledged in time when it was made at another time. */
  readonly isElsePrompt: boolean;
  /** How the same call was acknowledged when it was made alone. */
  readonly alone: Alone | undefined;
  /** Whether what is late is made again alone. */
  readonly isRepeated: boolean;
  /** The place of the last attempt that was answered 200; -1 where there is none. */
  readonly takenAt: number;
}

function isPrompt({ attempts }: CallEvidence): boolean {
  return attempts.some(each => statusOf(each) === 200 && waitedFor(each) <= ACK_SLOW_MS);
}

function onAttempt(attempt: Leg, call: CallEvidence, terms: Terms): readonly Observation[] {
  const { isSound, isElsePrompt, alone, isRepeated } = terms;
  const status = statusOf(attempt);
  if (status === null)
    return attempt === call.attempts.at(-1) ? onUnanswered(attempt, call, isElsePrompt) : [];
  if (status !== 200) return isSound ? [onRefused(attempt, status, terms)] : [];
  return [onAnswered({ attempt, result: resultAfter(attempt, call), alone, isRepeated })];
}

/** Who wants credentials can be asked again with them; who was busy once may have been so rightly. */
function onRefused(attempt: Leg, status: number, { takenAt }: Terms): Observation {
  if (status === 401 || status === 403)
    return unseen(`answered ${status}: it wants credentials (--bearer, --header)`, [attempt]);
  const wasTakenLater = takenAt > attempt.request.seq;
  const difference = { expected: '200', actual: String(status) };
  return wasTakenLater && status >= 500
    ? doubtful(`answered ${status}, and 200 when it was sent again`, [attempt], difference)
    : broken(`answered ${status}`, [attempt], difference);
}

/** Members that only what was asked for would have. */
const ANSWERS = ['text', 'content', 'result', 'output', 'outcome'];

/** Bytes of an answer's body, as far as they are known: nobody has to read it. */
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

/** TOOL-ASYNC: what came of a call is POSTed to its callback URL; nobody reads the acknowledgement's body. */
export const answersByCallback: Rule = {
  id: 'TOOL-ASYNC',
  masks: ['TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no acknowledged invocation came to an outcome',
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
