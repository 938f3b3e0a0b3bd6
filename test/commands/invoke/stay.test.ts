import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { linger, waiting } from '../../../src/commands/invoke/run.js';
import { workbench } from '../../runtime/wire-of.js';
import { fakeClock } from '../../support/fake-clock.js';

describe('waiting leaves nothing behind', () => {
  test('where its time is over', async () => {
    const [clock, { signal }] = [fakeClock(), new AbortController()];
    const wait = waiting(clock, 300, signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    clock.advance(300);
    await wait;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('where a person wants to stop, meanwhile or before', async () => {
    const [clock, stop] = [fakeClock(), new AbortController()];
    const wait = waiting(clock, 300, stop.signal);
    stop.abort();
    await wait;
    await waiting(clock, 300, stop.signal);
    expect(clock.pending()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});

describe('--linger', () => {
  async function lingered(isStopped: boolean): Promise<string[]> {
    await using bench = workbench();
    const { log } = bench.wire;
    const [clock, stop] = [fakeClock(), new AbortController()];
    const facts: string[] = [];
    log.subscribe(({ kind }) => facts.push(kind));
    const over = linger({ log, clock, signal: stop.signal }, 300);
    if (isStopped) stop.abort();
    clock.advance(300);
    await over;
    return facts;
  }

  test('that nothing more came is a fact', async () => {
    expect(await lingered(false)).toEqual(['expired']);
  });

  test('unless a person did not wait for it', async () => {
    expect(await lingered(true)).toEqual([]);
  });
});
