import type { Event } from '../../exchange/events.js';

/** From its first event to its last, in ms since the start. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * For how long that went on which some events, named by their `seq`, are of, in ms: a call from its first event to its last, anything
 * else from its request to what became of it. What went on at the same time counts once.
 */
export function exchangeTimes(events: readonly Event[]): (seqs: readonly number[]) => number {
  const spans = new Map<string, Span>();
  const names = new Map(events.map(event => [event.seq, namesOf(event)]));
  for (const event of events)
    for (const name of namesOf(event)) spans.set(name, widened(event.at, spans.get(name)));
  return seqs => {
    const concerned = new Set(seqs.flatMap(seq => names.get(seq) ?? []));
    return covered([...concerned].flatMap(name => spans.get(name) ?? []));
  };
}

function namesOf(event: Event): readonly string[] {
  const { calls = [] } = event;
  if (calls.length > 0) return calls.map(key => `call ${key}`);
  return 'leg' in event && event.leg !== undefined ? [`leg ${event.leg}`] : [];
}

function widened(at: number, { from, to }: Span = { from: at, to: at }): Span {
  return { from: Math.min(from, at), to: Math.max(to, at) };
}

function covered(spans: readonly Span[]): number {
  let [sum, until] = [0, 0];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}
