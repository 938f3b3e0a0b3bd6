import { describe, expect, test } from 'vitest';
import type { Conversation } from '../../../src/mock/conversation.js';
import { OpenCalls } from '../../../src/mock/plan.js';

function callOf(key: string, thread: string) {
  const call = { about: { calls: [key], thread }, reason: null as string | null };
  const cancel = (reason: string) => {
    call.reason ??= reason;
  };
  return Object.assign(call, { cancel }) as unknown as Conversation & { readonly reason: string | null };
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

test('row 15: limits the number and size of open calls; accepts one of any size', () => {
  const openCalls = new OpenCalls({ calls: 3, bytes: 100 });
  const [first, second, large, last] = ['a', 'b', 'c', 'd'].map(key => callOf(key, 'g'));
  const admit = (call = callOf('x', 'g'), size = 0) => openCalls.admit(call, Buffer.alloc(size));
  expect([admit(first, 101), admit(second, 1)]).toEqual([
    null,
    'the open calls are too large: more than 100 bytes',
  ]);
  expect(admit(large, 1024 * 1024)).toBeNull();
  expect(openCalls.problemUnread(Buffer.alloc(1024 * 1024))).toContain('too large');
  if (first) openCalls.end(first);
  if (first) openCalls.end(first);
  expect([admit(first, 60), admit(second, 41), admit(second, 40)]).toEqual([
    null,
    'the open calls are too large: more than 100 bytes',
    null,
  ]);
  expect(admit(last)).toBe('too many open calls: 3');
});
