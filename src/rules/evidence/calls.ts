import type { Event } from '../../exchange/events.js';
import { type InvocationReading, readInvocation } from '../../protocol/read-invocation.js';
import { callbackOf } from './callbacks.js';
import { checkArguments } from './check-arguments.js';
import { toolNamed, toolsetsAt } from './discoveries.js';
import type { CallEvidence, Discovery } from './evidence.js';
import { indexAfter, type Leg } from './leg.js';
import { verdictsOf } from './verdicts.js';

/** The calls that were made, each with what belongs to it. */
export async function callsOf(
  events: readonly Event[],
  legs: readonly Leg[],
  discoveries: readonly Discovery[],
): Promise<readonly CallEvidence[]> {
  const verdicts = verdictsOf(events);
  const legsByCall = grouped(legs, keysOf);
  const eventsByCall = grouped(events, event => event.calls);
  const closes = grouped(legs, closedThread);
  const begun = [...legsByCall].filter(([, own]) => own.some(isInvocation));
  return Promise.all(
    begun.map(async ([key, own]) => {
      const of = (purpose: Leg['request']['purpose']) =>
        own.filter(({ request }) => request.purpose === purpose);
      const happened = eventsByCall.get(key) ?? [];
      const attempts = of('invocation');
      const read = await readingOf(attempts, discoveries);
      return {
        key,
        ...read,
        attempts,
        callbacks: of('callback').map(leg => callbackOf(leg, verdicts.get(leg.request.leg) ?? null)),
        selections: of('choice'),
        cancels: of('cancel'),
        closes: closesAfter(attempts[0], closes.get(threadOf(read.reading) ?? '')),
        plans: happened.filter(event => event.kind === 'planned'),
        expiries: happened.filter(event => event.kind === 'expired'),
        isCutShort: false,
        decisions: happened.filter(event => event.kind === 'decided'),
      };
    }),
  );
}

function isInvocation({ request }: Leg): boolean {
  return request.purpose === 'invocation';
}

const NOTHING = { ok: false, reason: 'it has no body' } as const;

async function readingOf(attempts: readonly Leg[], discoveries: readonly Discovery[]) {
  const [first] = attempts;
  const reading = readInvocation(first?.request.body?.json ?? NOTHING);
  const at = first?.request.at ?? 0;
  const tool = reading.ok ? toolNamed(toolsetsAt(discoveries, at), reading.invocation.operation) : null;
  const argumentFaults = reading.ok && tool ? await checkArguments(tool, reading.invocation.arguments) : null;
  return { reading, tool, argumentFaults };
}

/** One that is malformed may belong to no call that anybody could name: it is one by itself. */
function keysOf({ request }: Leg): readonly string[] {
  const { calls = [], purpose, leg } = request;
  return calls.length === 0 && purpose === 'invocation' ? [leg] : calls;
}

function threadOf(reading: InvocationReading): string | null {
  return reading.ok ? reading.invocation.group_id : null;
}

function closedThread({ request: { purpose, thread } }: Leg): readonly string[] {
  return purpose === 'close' && thread !== undefined ? [thread] : [];
}

/** The first one is enough: a thread that is closed for each of its thousand calls has a million of them. */
function closesAfter(first: Leg | undefined, closes: readonly Leg[] = []): readonly Leg[] {
  const at = indexAfter(first?.request.seq ?? 0, closes);
  return closes.slice(at, at + 1);
}

function grouped<T>(all: readonly T[], namesOf: (one: T) => readonly string[] | undefined) {
  const found = new Map<string, T[]>();
  for (const one of all)
    for (const name of namesOf(one) ?? []) {
      const own = found.get(name);
      if (own) own.push(one);
      else found.set(name, [one]);
    }
  return found;
}
