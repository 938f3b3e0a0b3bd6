import { HOSTILE_TEXTS } from '../call.js';
import type { ProbeCall, ProbeClient, Prober } from './prober.js';
import type { SampleCalls } from './samples.js';

interface Target {
  readonly prober: Prober;
  readonly samples: SampleCalls;
}

const MAX_SILENT = 2;

/** The calls get this many windows in all. */
const WINDOWS = 2;

/** Calls with hostile texts, one after another: if the tool crashes, the last one was the cause. */
export const hostileTexts = {
  id: HOSTILE_TEXTS,
  checks: ['TOOL-ALWAYS', 'TOOL-ACK'],
  shows: ['TOOL-NOLEAK'],
  alone: true,
  isFor: async ({ samples }: Target) => (await samples.hostileCalls).length > 0,
  async run(client: ProbeClient, { samples, prober }: Target): Promise<void> {
    const { clock } = prober.options;
    const plain = await samples.answeredOperations();
    const calls = (await samples.hostileCalls).filter(({ operation }) => plain.has(operation));
    const end = clock.runnable() + WINDOWS * prober.windowMs;
    let silent = 0;
    for (const [index, call] of calls.entries()) {
      if (clock.runnable() >= end)
        return prober.warn(
          `${calls.length - index} calls with hostile texts were not made: the others took too long`,
        );
      const outcome = await outcomeOf(call, client, prober);
      if (outcome === 'silent') silent++;
      if (prober.isAborted || outcome === 'gone' || silent === MAX_SILENT) return;
    }
  },
} as const;

/** Any answer will do, a refusal too. */
async function outcomeOf(
  hostile: ProbeCall,
  client: ProbeClient,
  { options: { wire } }: Prober,
): Promise<'answered' | 'silent' | 'gone'> {
  const isGone = () =>
    wire.findDocument().then(
      () => false,
      () => true,
    );
  const call = client.send(hostile);
  if ((await call.acknowledged) === null && (await isGone())) return 'gone';
  if ((call.status ?? 0) >= 400) return 'answered';
  await call.finish();
  if (call.callbacks.length > 0) return 'answered';
  return (await isGone()) ? 'gone' : 'silent';
}
