import { HOSTILE_TEXTS_PLAN } from '../recorded-call.js';
import { hostileCalls } from './generated-calls.js';
import type { Probe } from './probe.js';
import type { ProbeCall } from './probe-call.js';
import type { ProbeClient, Prober } from './prober.js';

/** After this many calls without an answer, no more are made. */
const MAX_SILENT = 2;

/** The calls get this many windows in all. */
const WINDOWS = 2;

/** Calls with hostile texts, one after another: if the tool crashes, the last one was the cause. */
export const HOSTILE_TEXTS: Probe = {
  id: HOSTILE_TEXTS_PLAN,
  checks: ['TOOL-ALWAYS', 'TOOL-ACK'],
  shows: ['TOOL-NOLEAK'],
  alone: true,
  isFor: async ({ samples }) => (await hostileCalls(samples.harmless)).length > 0,
  async run(client, { samples, prober }) {
    const { check } = prober;
    const { clock } = check.options;
    const plain = await samples.answeredOperations();
    const calls = (await hostileCalls(samples.harmless)).filter(({ operation }) => plain.has(operation));
    const end = clock.runnable() + WINDOWS * check.windowMs;
    let silent = 0;
    for (const [index, call] of calls.entries()) {
      if (clock.runnable() >= end)
        return check.warn(
          `${calls.length - index} calls with hostile texts were not made: the others took too long`,
        );
      const outcome = await outcomeOf(call, client, prober);
      if (outcome === 'silent') silent++;
      if (check.isAborted || outcome === 'gone' || silent === MAX_SILENT) return;
    }
  },
};

/** Any answer will do, a refusal too. */
async function outcomeOf(
  hostile: ProbeCall,
  client: ProbeClient,
  prober: Prober,
): Promise<'answered' | 'silent' | 'gone'> {
  const call = client.send(hostile);
  if ((await call.acknowledged) === null && !(await prober.isToolAlive())) return 'gone';
  if ((call.status ?? 0) >= 400) return 'answered';
  await call.finish();
  if (call.callbacks.length > 0) return 'answered';
  return (await prober.isToolAlive()) ? 'silent' : 'gone';
}
