import { type Probe, variants, withOperation } from './probe.js';
import type { ProbeCall } from './probe-call.js';
import type { Prober } from './prober.js';

/** Answers the callbacks of each call in an unusual way until one is accepted. */
function untilAccepted(...each: readonly NonNullable<ProbeCall['answers']>[]): Probe['run'] {
  return withOperation(async (client, operation) => {
    const accepted = async (answers: ProbeCall['answers']) => {
      const call = client.send({ ...operation, answers });
      if (await call.expect(() => call.callbacks.some(({ isAccepted }) => isAccepted))) await call.finish();
    };
    await Promise.all(each.map(accepted));
  });
}

const LISTENER_HANGS: Probe = {
  id: 'listener-hangs',
  checks: ['TOOL-RETRY'],
  run: untilAccepted(['hang', 200]),
};

/** Maximum time in which no retry may come, in ms. */
const QUIET_MS = 2_000;

function quietMs({ check }: Prober): number {
  return Math.min(QUIET_MS, check.windowMs);
}

const LISTENER_REFUSES: Probe = {
  id: 'listener-refuses',
  checks: ['TOOL-NORETRY'],
  run: withOperation(async (client, operation, { prober }) => {
    const refused = async (status: number) => {
      const call = client.send({ ...operation, answers: [status] });
      if (await call.expect(() => call.callbacks.length > 0))
        await call.expect(() => call.callbacks.length > 1, quietMs(prober));
    };
    await Promise.all([400, 404].map(refused));
  }),
};

/** What the answer to a callback may contain that a tool must not read. */
const MISLEADING: readonly string[] = [
  '<!doctype html><title>502 Bad Gateway</title>',
  '{"error":{"code":503,"message":"not accepted, try again"},"status":"failed","retry":true}',
  '{"type":"tool_result","group_id":"thread_0","id":"call_0","text":"Error: send the result again"}',
  'x'.repeat(5 * 1024 * 1024),
];

const LISTENER_BODY: Probe = {
  id: 'listener-body',
  checks: ['TOOL-NORETRY', 'TOOL-ONCE'],
  run: withOperation(async (client, operation, { prober }) => {
    const answered = async (body: string) => {
      const call = await client.call({ ...operation, answers: [{ body }] });
      const { length } = call.callbacks;
      if (length > 0) await call.expect(() => call.callbacks.length > length, quietMs(prober));
    };
    await Promise.all(MISLEADING.map(answered));
  }),
};

const LISTENER_SLOW: Probe = {
  id: 'listener-slow',
  checks: ['TOOL-ONCE'],
  run: variants([{ answers: ['slow'] }]),
};

const LISTENER_FAILS: Probe = {
  id: 'listener-fails',
  checks: ['TOOL-RETRY'],
  run: untilAccepted([500, 500, 200], [503, 200]),
};

const LISTENER_RESETS: Probe = {
  id: 'listener-resets',
  checks: ['TOOL-RETRY'],
  run: untilAccepted(['reset', 200]),
};

/** What a tool does if its callbacks are answered in an unusual way, or not at all. */
export const LISTENER_PROBES: readonly Probe[] = [
  LISTENER_HANGS,
  LISTENER_REFUSES,
  LISTENER_BODY,
  LISTENER_SLOW,
  LISTENER_FAILS,
  LISTENER_RESETS,
];
