import { describe, expect, test } from 'vitest';
import { CallingOff, Pauses } from '../../../src/mock/reply-waits.js';
import { fakeClock } from '../../support/fake-clock.js';

const never = new Promise<never>(() => {});

function setUp() {
  const clock = fakeClock();
  return { clock, pauses: new Pauses(clock), callingOff: new CallingOff() };
}

describe('what is waited for', () => {
  test('comes first, or the time does: then it is null, and no timer is left', async () => {
    const { clock, pauses, callingOff } = setUp();
    expect(await pauses.within(Promise.resolve('x'), 10, callingOff)).toBe('x');
    expect(clock.pending()).toBe(0);
    const late = pauses.within(never, 10, callingOff);
    clock.advance(10);
    expect(await late).toBeNull();
  });

  test('without a time it is waited for ever', async () => {
    const { clock, pauses, callingOff } = setUp();
    const answer = pauses.within(Promise.resolve('x'), undefined, callingOff);
    expect(clock.pending()).toBe(0);
    expect(await answer).toBe('x');
  });

  test('what fails comes to nothing', async () => {
    const { pauses, callingOff } = setUp();
    expect(await pauses.within(Promise.reject(new Error('x')), 10, callingOff)).toBeNull();
  });

  test('a call that is called off waits for nothing, now or later', async () => {
    const { clock, pauses, callingOff } = setUp();
    const [pause, answer] = [pauses.wait(10, callingOff), pauses.within(never, undefined, callingOff)];
    const other = pauses.within(never, 5, new CallingOff());
    callingOff.callOff('the call was cancelled');
    expect([await pause, await answer, await pauses.within(never, 10, callingOff)]).toEqual([
      undefined,
      null,
      null,
    ]);
    expect(clock.pending()).toBe(1);
    clock.advance(5);
    expect(await other).toBeNull();
  });

  test('in a hurry nothing is waited for', async () => {
    const { clock, pauses, callingOff } = setUp();
    const [pause, answer] = [pauses.wait(10, callingOff), pauses.within(never, undefined, callingOff)];
    pauses.hurry();
    expect([await pause, await answer, await pauses.wait(10, callingOff)]).toEqual([
      undefined,
      null,
      undefined,
    ]);
    expect(clock.pending()).toBe(0);
  });

  test('nothing at all takes no time', async () => {
    const { clock, pauses, callingOff } = setUp();
    await pauses.wait(0, callingOff);
    expect([clock.pending(), pauses.now()]).toEqual([0, clock.now()]);
  });
});
