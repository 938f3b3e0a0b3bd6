import { describe, expect, test } from 'vitest';
import type { OpenCall } from '../../../src/mock/open-call.js';
import { OpenCalls } from '../../../src/mock/plan.js';

function callOf(key: string, thread: string) {
  const call = { about: { calls: [key], thread }, reason: null as string | null };
  const cancel = (reason: string) => {
    call.reason ??= reason;
  };
  return Object.assign(call, { cancel }) as unknown as OpenCall & { readonly reason: string | null };
}

function setUp() {
  const openCalls = new OpenCalls();
  const calls = [callOf('g/i', 'g'), callOf('g/j', 'g'), callOf('h/i', 'h'), callOf('g/i', 'g')] as const;
  for (const call of calls) openCalls.admit(call, new Uint8Array());
  return { openCalls, calls, reasons: () => calls.map(({ reason }) => reason) };
}

describe('TOOL-CANCEL, TOOL-CLOSE: which calls are canceled', () => {
  test.each<[string, (openCalls: OpenCalls) => void, (string | null)[]]>([
    [
      'a key, executed twice',
      each => each.cancel('g/i'),
      ['the call was canceled', null, null, 'the call was canceled'],
    ],
    ['an unknown key', each => each.cancel('__proto__'), [null, null, null, null]],
    ['a thread', each => each.closeThread('h'), [null, null, 'the thread was closed', null]],
    ['a stop', each => each.stop(), Array(4).fill('the tool is stopping')],
  ])('%s', (_, end, reasons) => {
    const { openCalls, reasons: after } = setUp();
    end(openCalls);
    expect(after()).toEqual(reasons);
  });

  test('keeps the first reason; a finished call is not canceled', () => {
    const { openCalls, calls, reasons } = setUp();
    openCalls.end(calls[2]);
    openCalls.closeThread('g');
    openCalls.stop();
    expect(reasons()).toEqual([...Array(2).fill('the thread was closed'), null, 'the thread was closed']);
  });
});

test('is idle once every call is over, also a repeated one', async () => {
  const { openCalls, calls } = setUp();
  let isIdle = false;
  const idle = openCalls.idle().then(() => {
    isIdle = true;
  });
  for (const call of calls.slice(0, 3)) openCalls.end(call);
  await Promise.resolve();
  expect(isIdle).toBe(false);
  openCalls.end(calls[3]);
  await idle;
  await openCalls.idle();
});

test('row 15: limits the number of open calls and the bytes of their invocations; accepts one of any size', () => {
  const openCalls = new OpenCalls({ calls: 3, bytes: 100 });
  const admit = (key: string, size = 0) => openCalls.admit(callOf(key, 'g'), Buffer.alloc(size));
  const problem = (size: number) => openCalls.problem(Buffer.alloc(size));
  expect(problem(101)).toBeNull();
  expect(admit('a', 60)).toBeNull();
  expect([problem(41), problem(40)]).toEqual(['the open calls are too large: more than 100 bytes', null]);
  expect([admit('b'), admit('c'), admit('d')]).toEqual([null, null, 'too many open calls: 3']);
});

test('row 15: a call that ended makes room, once', () => {
  const openCalls = new OpenCalls({ calls: 3, bytes: 100 });
  const [first, second] = [callOf('a', 'g'), callOf('b', 'g')];
  for (const call of [first, second]) openCalls.admit(call, Buffer.alloc(50));
  for (let n = 0; n < 2; n++) openCalls.end(first);
  expect([openCalls.problem(Buffer.alloc(50)), openCalls.problem(Buffer.alloc(51))]).toEqual([
    null,
    'the open calls are too large: more than 100 bytes',
  ]);
});
