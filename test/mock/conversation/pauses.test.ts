import { describe, expect, test } from 'vitest';
import { Cancellation, Pauses } from '../../../src/mock/waits.js';
import { fakeClock } from '../../support/fake-clock.js';

const never = new Promise<never>(() => {});

function setUp() {
  const clock = fakeClock();
  return { clock, pauses: new Pauses(clock), cancellation: new Cancellation() };
}

describe('what is waited for', () => {
  test('comes first, or the time does: then it is null, and no timer is left', async () => {
    const { clock, pauses, cancellation } = setUp();
    expect(await pauses.within(Promise.resolve('x'), 10, cancellation)).toBe('x');
    expect(clock.pending()).toBe(0);
    const late = pauses.within(never, 10, cancellation);
    clock.advance(10);
    expect(await late).toBeNull();
  });

  test('without a time it is waited for ever', async () => {
    const { clock, pauses, cancellation } = setUp();
    const answer = pauses.within(Promise.resolve('x'), undefined, cancellation);
    expect(clock.pending()).toBe(0);
    expect(await answer).toBe('x');
  });

  test('what fails comes to nothing', async () => {
    const { pauses, cancellation } = setUp();
    expect(await pauses.within(Promise.reject(new Error('x')), 10, cancellation)).toBeNull();
  });

  test('a call that is called off waits for nothing, now or later', async () => {
    const { clock, pauses, cancellation } = setUp();
    const [pause, answer] = [pauses.wait(10, cancellation), pauses.within(never, undefined, cancellation)];
    const other = pauses.within(never, 5, new Cancellation());
    cancellation.cancel('the call was canceled');
    expect([await pause, await answer, await pauses.within(never, 10, cancellation)]).toEqual([
      undefined,
      null,
      null,
    ]);
    expect(clock.pending()).toBe(1);
    clock.advance(5);
    expect(await other).toBeNull();
  });

  test('in a hurry nothing is waited for', async () => {
    const { clock, pauses, cancellation } = setUp();
    const [pause, answer] = [pauses.wait(10, cancellation), pauses.within(never, undefined, cancellation)];
    pauses.hurry();
    expect([await pause, await answer, await pauses.wait(10, cancellation)]).toEqual([
      undefined,
      null,
      undefined,
    ]);
    expect(clock.pending()).toBe(0);
  });

  test('nothing at all takes no time', async () => {
    const { clock, pauses, cancellation } = setUp();
    await pauses.wait(0, cancellation);
    expect([clock.pending(), pauses.now()]).toEqual([0, clock.now()]);
  });
});
