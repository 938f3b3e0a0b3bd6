import { expect, test } from 'vitest';
import { acknowledgementWait } from '../../src/runtime/runtime.js';
import { acknowledged, answered, call, KEY, lost, type Moment } from '../events/build.js';
import { fakeClock } from '../support/fake-clock.js';
import { workbench } from './wire-of.js';

async function waiting(...before: Moment[]) {
  await using bench = workbench();
  const { log } = bench.wire;
  for (const fact of before) log.emit(fact);
  const clock = fakeClock();
  let isOver = false;
  const wait = acknowledgementWait(log, bench.history, clock, KEY);
  void wait?.then(() => {
    isOver = true;
  });
  const turn = () => new Promise(setImmediate);
  return { log, clock, wait, turn, isOver: () => isOver };
}

test.each([
  ['an acknowledgement', acknowledged()],
  ['another answer', answered(503)],
  ['no answer any more', lost()],
])('it is over with %s', async (_, end) => {
  const { log, clock, wait, turn, isOver } = await waiting(...call());
  await turn();
  expect([isOver(), clock.pending()]).toEqual([false, 1]);
  for (const fact of end) log.emit(fact);
  await wait;
  expect(clock.pending()).toBe(0);
});

test('it is over after 200 ms where no answer comes', async () => {
  const { clock, wait, turn, isOver } = await waiting(...call());
  clock.advance(199);
  await turn();
  expect(isOver()).toBe(false);
  clock.advance(1);
  await wait;
});

test.each([
  ['the answer is here', [...call(), ...acknowledged()]],
  ['nothing was sent', []],
])('where %s there is none', async (_, before) => {
  const { clock, wait } = await waiting(...before);
  expect(wait).toBeNull();
  expect(clock.pending()).toBe(0);
});
