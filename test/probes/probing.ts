import type { CallEvidence } from '../../src/check/call.js';
import { type Evidence, gatherEvidence } from '../../src/check/evidence.js';
import { runProbes } from '../../src/check/probes/run.js';
import type { Event } from '../../src/events/events.js';
import { createLog } from '../../src/events/log.js';
import { createNodeClient } from '../../src/http/node-client.js';
import { Wire } from '../../src/runtime/wire.js';
import { createRunnableClock } from '../../src/system/clock.js';

export type ProbeOptions = Parameters<typeof runProbes>[0];

/** Enough time for a local response on a busy machine. */
const WINDOW_MS = 4_000;

export interface Probing {
  readonly events: readonly Event[];
  readonly evidence: Evidence;
  /** The calls of a plan, in order. */
  callsOf(plan: string): readonly CallEvidence[];
  eventsOfKind<K extends Event['kind']>(kind: K): Extract<Event, { kind: K }>[];
}

/** Runs the probes against a tool server, calling only operations marked as harmless, and collects the evidence. */
export async function probing(url: string, options: Partial<ProbeOptions> = {}): Promise<Probing> {
  const events: Event[] = [];
  await probingInto(events, url, options);
  const evidence = await gatherEvidence({ events }, 'tool');
  return {
    events,
    evidence,
    callsOf: plan => evidence.calls.filter(({ plans }) => plans.some(each => each.plan === plan)),
    eventsOfKind: kind => events.filter((event): event is never => event.kind === kind),
  };
}

/** As {@link probing}, but returns the evidence even if the run fails. */
export async function probingInto(
  events: Event[],
  url: string,
  options: Partial<ProbeOptions>,
): Promise<void> {
  const clock = createRunnableClock();
  const log = createLog(clock.now, clock.runnable);
  log.subscribe(event => void events.push(event));
  const client = createNodeClient({ clock });
  try {
    await runProbes({
      wire: new Wire(log, client, url),
      clock,
      listener: { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 1024 * 1024 },
      operations: [],
      cases: [],
      wants: () => true,
      probeTimeoutMs: WINDOW_MS,
      onConsent: () => {},
      onProgress: () => {},
      signal: new AbortController().signal,
      ...options,
    });
  } finally {
    await client.close();
  }
}

/** The types of a call's callbacks, in order; null for an unreadable one. */
export function typesOf({ callbacks }: CallEvidence): (string | null)[] {
  return callbacks.map(({ reading }) => (reading?.ok ? reading.message.type : null));
}

/** The response statuses of a call's callbacks, in order; `broken` without a response. */
export function answersOf({ callbacks }: CallEvidence): (number | 'broken' | null)[] {
  return callbacks.map(({ response, broken }) => (broken ? 'broken' : (response?.status ?? null)));
}

/** The fields of a call's invocation, as sent. */
export function sentBy({ attempts: [attempt] }: CallEvidence): Record<string, unknown> {
  return JSON.parse(Buffer.from(attempt?.request.body?.bytes ?? []).toString());
}
