import { ownTime } from '../../exchange/own-time.js';
import { isBehind, resultAfter } from './behind.js';
import type { CallEvidence, Discovery, Evidence } from './evidence.js';
import { endedAt, type Leg, statusOf } from './leg.js';

/** How a call was acknowledged when it was made again with nothing else under way, by the best of its tries. */
export interface Alone {
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
export function madeAlone({ calls, discoveries }: Evidence): (call: CallEvidence) => Alone | undefined {
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
export function sentBy({ reading }: CallEvidence): string {
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
