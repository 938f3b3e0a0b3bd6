import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onSignals } from '../../src/system/process.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const raise = async (signal: NodeJS.Signals) => {
  const heard = once(process, signal);
  process.kill(process.pid, signal);
  await heard;
};

describe('signals', () => {
  it('are reported each time, a second one too, until no one listens', async () => {
    const others = SIGNALS.flatMap(name => process.listeners(name).map(listener => ({ name, listener })));
    for (const { name, listener } of others) process.off(name, listener);
    const heard: string[] = [];
    const stop = onSignals(signal => heard.push(signal));
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const) await raise(signal);
    stop();
    await raise('SIGHUP');
    for (const { name, listener } of others) process.on(name, listener);
    expect(heard).toEqual(['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP']);
  });
});
