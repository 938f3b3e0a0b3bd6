import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.js';

describe('the system’s clock', () => {
  it('never runs backwards, and calls back after the given time', async () => {
    const start = systemClock.now();
    await new Promise<void>(resolve => systemClock.after(20, resolve));
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(19);
    expect(Math.abs(systemClock.wall().getTime() - Date.now())).toBeLessThan(1_000);
  });

  it('does not call back after cancellation', async () => {
    const calls: string[] = [];
    const cancel = systemClock.after(1, () => calls.push('cancelled'));
    cancel();
    await new Promise<void>(resolve => systemClock.after(5, resolve));
    expect(calls).toEqual([]);
  });
});
