import { expect, test } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import { SessionStore, StopBell, untilNews } from '../../../src/session/platform/store.js';
import { fakeClock } from '../../support/fake-clock.js';

function waiting() {
  const clock = fakeClock();
  const bell = new StopBell();
  const store = new SessionStore(
    createLog(() => clock.now()),
    clock,
  );
  const wait = () => untilNews({ store, clock, bell }, { id: 's', ms: 5, isThere: () => false });
  return { clock, bell, wait };
}

test('a wait that is over is remembered by nobody', async () => {
  const { clock, bell, wait } = waiting();
  const waits = Array.from({ length: 1_000 }, wait);
  expect(bell.listeners).toBe(1_000);
  clock.advance(5);
  expect(new Set(await Promise.all(waits))).toEqual(new Set([true]));
  expect([bell.listeners, clock.pending()]).toEqual([0, 0]);
});

test('the end of the platform is the end of every wait, and of those that begin later', async () => {
  const { clock, bell, wait } = waiting();
  const before = wait();
  bell.ring();
  expect(await Promise.all([before, wait()])).toEqual([true, true]);
  expect([bell.listeners, clock.pending()]).toEqual([0, 0]);
});
