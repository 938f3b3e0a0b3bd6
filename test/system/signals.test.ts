import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onSignals } from '../../src/system/signals.js';

const raise = async (signal: NodeJS.Signals) => {
  const heard = once(process, signal);
  process.kill(process.pid, signal);
  await heard;
};

describe('signals', () => {
  it('are told each time, a second one too, until nobody listens', async () => {
    const heard: string[] = [];
    const stop = onSignals(signal => heard.push(signal));
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const) await raise(signal);
    stop();
    await raise('SIGHUP');
    expect(heard).toEqual(['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP']);
  });
});
