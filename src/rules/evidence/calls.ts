import type { Event } from '../../exchange/events.js';
import { readInvocation } from '../../protocol/read-invocation.js';
import { callbackOf } from './callbacks.js';
import { checkArguments } from './check-arguments.js';
import { toolNamed, toolsetsAt } from './discoveries.js';
import type { CallEvidence, Discovery } from './evidence.js';
import type { Leg } from './leg.js';
import { verdictsOf } from './verdicts.js';

/** The calls that were made, each with what belongs to it. */
export async function callsOf(
  events: readonly Event[],
  legs: readonly Leg[],
  discoveries: readonly Discovery[],
): Promise<readonly CallEvidence[]> {
  const verdicts = verdictsOf(events);
  const legsByCall = byCall(legs, ({ request }) => request.calls);
  const eventsByCall = byCall(events, event => event.calls);
  const begun = [...legsByCall].filter(([, own]) => own.some(isInvocation));
  return Promise.all(
    begun.map(async ([key, own]) => {
      const of = (purpose: Leg['request']['purpose']) =>
        own.filter(({ request }) => request.purpose === purpose);
      const happened = eventsByCall.get(key) ?? [];
      return {
        key,
        ...(await readingOf(of('invocation'), discoveries)),
        attempts: of('invocation'),
        callbacks: of('callback').map(leg => callbackOf(leg, verdicts.get(leg.request.leg) ?? null)),
        selections: of('choice'),
        cancels: of('cancel'),
        plans: happened.filter(event => event.kind === 'planned'),
        expiries: happened.filter(event => event.kind === 'expired'),
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

function byCall<T>(all: readonly T[], keysOf: (one: T) => readonly string[] | undefined) {
  const found = new Map<string, T[]>();
  for (const one of all)
    for (const key of keysOf(one) ?? []) {
      const own = found.get(key);
      if (own) own.push(one);
      else found.set(key, [one]);
    }
  return found;
}
