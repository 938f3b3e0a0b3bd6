import { expect, test } from 'vitest';
import { Handovers } from '../../src/record/recorded-calls.js';

const settle = () => new Promise(setImmediate).then(() => new Promise(setImmediate));

test('what comes after an answer waits until all there are were handed over', async () => {
  const handovers = new Handovers();
  const [first, second] = [handovers.begin('a'), handovers.begin('a')];
  let isOver = false;
  void handovers.over('a').then(() => {
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
  const handovers = new Handovers();
  handovers.begin('a');
  await handovers.over('b');
});

test('an answer that comes in the same moment counts', async () => {
  const handovers = new Handovers();
  let isOver = false;
  void handovers.over('a').then(() => {
    isOver = true;
  });
  const handOver = handovers.begin('a');
  await settle();
  expect(isOver).toBe(false);
  handOver();
  await settle();
  expect(isOver).toBe(true);
});
