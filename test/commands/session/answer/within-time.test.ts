import { expect, test } from 'vitest';
import { withinTime } from '../../../../src/commands/session/answerers.js';
import { fakeClock } from '../../../support/fake-clock.js';

const never = () => new Promise<never>(() => {});
const { signal } = new AbortController();

test('what comes in time counts, and leaves no timer behind', async () => {
  const clock = fakeClock();
  expect(await withinTime({ clock, ms: 100, signal }, async () => 'here')).toBe('here');
  expect(clock.pending()).toBe(0);
});

test('what does not is called off', async () => {
  const clock = fakeClock();
  let within: AbortSignal | undefined;
  const waiting = withinTime({ clock, ms: 100, signal }, given => {
    within = given;
    return never();
  });
  clock.advance(99);
  expect(within?.aborted).toBe(false);
  clock.advance(1);
  expect(await waiting).toBeNull();
  expect(within?.aborted).toBe(true);
});

test('without a limit nothing is timed', () => {
  const clock = fakeClock();
  void withinTime({ clock, ms: 0, signal }, never);
  expect(clock.pending()).toBe(0);
});

test('a person who stops is heard within', async () => {
  const abort = new AbortController();
  const heard = withinTime({ clock: fakeClock(), ms: 100, signal: abort.signal }, async given => {
    abort.abort();
    return given.aborted;
  });
  expect(await heard).toBe(true);
});

test('what fails in time fails', async () => {
  const clock = fakeClock();
  const failing = withinTime({ clock, ms: 100, signal }, () => Promise.reject(new Error('boom')));
  await expect(failing).rejects.toThrow('boom');
  expect(clock.pending()).toBe(0);
});
