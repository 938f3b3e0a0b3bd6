import { describe, expect, test } from 'vitest';
import { CallsUnderWay } from '../../../src/mock/intake.js';

function setUp() {
  const underWay = new CallsUnderWay();
  const calls = [
    underWay.begin('g/i', 'g'),
    underWay.begin('g/j', 'g'),
    underWay.begin('h/i', 'h'),
    underWay.begin('g/i', 'g'),
  ] as const;
  return { underWay, calls, reasons: () => calls.map(({ reason }) => reason) };
}

describe('TOOL-CANCEL, TOOL-CLOSE: which calls are called off', () => {
  test.each<[string, (underWay: CallsUnderWay) => void, (string | null)[]]>([
    [
      'a key, executed twice',
      each => each.cancel('g/i'),
      ['the call was cancelled', null, null, 'the call was cancelled'],
    ],
    ['a key of nobody', each => each.cancel('__proto__'), [null, null, null, null]],
    ['a thread', each => each.closeThread('h'), [null, null, 'the thread was closed', null]],
    ['the end', each => each.stop(), Array(4).fill('the tool is stopping')],
  ])('%s', (_, end, reasons) => {
    const { underWay, reasons: after } = setUp();
    end(underWay);
    expect(after()).toEqual(reasons);
  });

  test('the first reason stays; one that is over hears of nothing', () => {
    const { underWay, calls, reasons } = setUp();
    underWay.end(calls[2]);
    underWay.closeThread('g');
    underWay.stop();
    expect(reasons()).toEqual([...Array(2).fill('the thread was closed'), null, 'the thread was closed']);
  });
});

test('TOOL-SUB: one that rests can be called off, and is not waited for', async () => {
  const underWay = new CallsUnderWay();
  const [resting, ended] = [underWay.begin('g/i', 'g'), underWay.begin('g/i', 'g')];
  for (const call of [resting, ended]) underWay.rest(call);
  underWay.end(ended);
  await underWay.idle();
  underWay.cancel('g/i');
  expect([resting.reason, ended.reason]).toEqual(['the call was cancelled', null]);
});

test('it is idle once every one is over, a repeated one too', async () => {
  const { underWay, calls } = setUp();
  let isIdle = false;
  const idle = underWay.idle().then(() => {
    isIdle = true;
  });
  for (const call of calls.slice(0, 3)) underWay.end(call);
  await Promise.resolve();
  expect(isIdle).toBe(false);
  underWay.end(calls[3]);
  await idle;
  await underWay.idle();
});

test('row 15: there is room for so many calls, and so many bytes; for one of any size', () => {
  const underWay = new CallsUnderWay({ calls: 2, bytes: 100 });
  expect(underWay.problem(101)).toBeNull();
  const first = underWay.begin('a', 'g', 60);
  expect(underWay.problem(41)).toBe('the open calls are too large: more than 100 bytes');
  expect(underWay.problem(40)).toBeNull();
  underWay.begin('b', 'g', 40);
  expect(underWay.problem(0)).toBe('too many open calls: 2');
  underWay.end(first);
  underWay.end(first);
  expect(underWay.problem(60)).toBeNull();
});
