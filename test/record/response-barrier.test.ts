import { expect, test } from 'vitest';
import { ResponseBarrier } from '../../src/record/ordering.js';

const settle = () => new Promise(setImmediate).then(() => new Promise(setImmediate));

test('what comes after an answer waits until all there are were handed over', async () => {
  const barrier = new ResponseBarrier();
  const [first, second] = [barrier.begin('a'), barrier.begin('a')];
  let isOver = false;
  void barrier.over('a').then(() => {
    isOver = true;
  });
  second();
  await settle();
  expect(isOver).toBe(false);
  first();
  await settle();
  expect(isOver).toBe(true);
});

test('nothing waits where no answer is due there', async () => {
  const barrier = new ResponseBarrier();
  barrier.begin('a');
  await barrier.over('b');
});

test('an answer that comes in the same moment counts', async () => {
  const barrier = new ResponseBarrier();
  let isOver = false;
  void barrier.over('a').then(() => {
    isOver = true;
  });
  const handOver = barrier.begin('a');
  await settle();
  expect(isOver).toBe(false);
  handOver();
  await settle();
  expect(isOver).toBe(true);
});
