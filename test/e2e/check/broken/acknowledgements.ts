import { runnableSleep } from '../../../support/runnable-sleep.js';
import {
  type BrokenTools,
  type Fields,
  fieldsIn,
  startTwisted,
  startWithOdd,
  startWithText,
  type Twist,
  textIn,
} from './tool.js';

const NO_CALLBACK = async () => 200;

/** What is wrong with the acknowledgement, or with what comes after it. */
export const acknowledgements: BrokenTools = {
  'TOOL-ACK': [
    {
      does: 'answers 202',
      start: () => startWithOdd({ odd: { reply: { payload: 'done' }, faults: { ack: { status: 202 } } } }),
      says: /answered 202/,
    },
    {
      does: 'answers everything 202',
      start: () => startTwisted({ acknowledged: () => 202 }),
      says: /answered 202/,
    },
    {
      does: 'works before it acknowledges',
      start: () =>
        startWithOdd({ odd: { reply: { payload: 'done' }, faults: { callback: ['before-ack'] } } }),
      says: /the 200 came after the result/,
    },
    {
      does: 'has done its work before it acknowledges',
      start: () => startWithOdd({ odd: { reply: { payload: 'done' }, faults: { ack: { delay: 600 } } } }),
      status: 'warn',
      says: /the 200 took \d+ms when called alone, over 250 ms/,
    },
    {
      does: 'takes more than a second',
      start: () => startWithOdd({ odd: { reply: { payload: 'done' }, faults: { ack: { delay: 1_200 } } } }),
      says: /the 200 took 1\.\d/,
      options: { probeTimeoutMs: 2_500 },
    },
    {
      does: 'answers one operation never',
      start: () => startWithOdd({ odd: { reply: { payload: 'done' }, faults: { ack: { delay: 60_000 } } } }),
      says: /^a result came, but no acknowledgement$/,
      options: { wants: id => ['TOOL-ACK', 'TOOL-MALFORMED', 'TOOL-CLOSE'].includes(id) }, // its result comes after the call was broken off
    },
    {
      does: 'works before it acknowledges its first call',
      start: () => startTwisted({ acknowledged: lateAtFirst() }),
      status: 'warn',
      says: /the 200 took 1\.\d+s under load, and [\d.]+ms when called alone/,
    },
    {
      does: 'breaks the connection',
      start: () => startWithOdd({ odd: { reply: { payload: 'done' }, faults: { ack: { reset: true } } } }),
      says: /no acknowledgement|without an answer/,
    },
    {
      does: 'crashes on a quote in a text, before it acknowledges',
      start: () => crashingOn('quotes', 'at-once'),
      says: /the connection ended without an answer/,
    },
    {
      does: 'crashes on a text of 100 kB, before it acknowledges',
      start: () => crashingOn('xxxxxxxx', 'at-once'),
      says: /the connection ended without an answer/,
    },
    {
      does: 'answers a command in a text 500',
      start: () =>
        startWithText({
          answers: (_, body) => (textIn(fieldsIn(body)).startsWith('$(') ? { status: 500 } : undefined),
        }),
      says: /answered 500/,
    },
  ],
  'TOOL-ASYNC': [
    {
      does: 'gives the result of one operation in the acknowledgement',
      start: () =>
        startTwisted({
          answers: (path, body) =>
            path === '/invoke' && fieldsIn(body)['operation'] === 'odd' ? resultFor(body) : undefined,
        }),
      says: /the acknowledgement has a body of \d+ bytes, and no callback came/,
    },
    {
      does: 'gives every result in the acknowledgement',
      start: () =>
        startTwisted({ answers: (path, body) => (path === '/invoke' ? resultFor(body) : undefined) }),
      says: /the acknowledgement has a body of \d+ bytes, and no callback came/,
    },
  ],
  'TOOL-ALWAYS': [
    {
      does: 'forgets one operation',
      start: () => startWithOdd({ odd: { reply: { silence: true } } }),
      says: /\d+ of \d+ calls got a result within 2s: raise --probe-timeout/,
    },
    {
      does: 'forgets every call',
      start: () => startTwisted({ delivers: NO_CALLBACK }),
      says: /^0 of \d+ calls got a result within/,
    },
    {
      does: 'forgets a call of a thread in which another one is open',
      start: () => startTwisted(oneInThread()),
      says: /\d+ of \d+ calls got a result within 2s: raise --probe-timeout/,
    },
    {
      does: 'forgets a call with an emoji in a text',
      start: () =>
        startWithText({
          delivers: async ({ url, message, invocation }, post) =>
            textIn(invocation).includes('👩') ? 200 : post(url, message),
        }),
      says: /\d+ of \d+ calls got a result within 2s: raise --probe-timeout/,
    },
    {
      does: 'crashes on a NUL in a text, after it has acknowledged',
      start: () => crashingOn('\0', 'later'),
      says: /no tool_result within 2s, and the tool was unreachable/,
    },
  ],
};

/** No one is there any more once a text with this part came. */
function crashingOn(part: string, when: 'at-once' | 'later') {
  let isDead = false;
  const dies = (invocation: Fields) => {
    isDead ||= textIn(invocation).includes(part);
    return isDead;
  };
  return startWithText({
    isGone: () => isDead,
    answers: (_, body) => (when === 'at-once' && dies(fieldsIn(body)) ? 'reset' : undefined),
    delivers: async ({ url, message, invocation }, post) => (dies(invocation) ? 200 : post(url, message)),
  });
}

function oneInThread(): Twist {
  const open = new Set<unknown>();
  const forgotten = new Set<unknown>();
  return {
    invocation(invocation) {
      const { id, group_id } = invocation;
      if (open.has(group_id)) forgotten.add(id);
      open.add(group_id);
      return invocation;
    },
    async delivers({ url, message }, post) {
      await runnableSleep(100); // other calls of the thread come
      open.delete(message['group_id']);
      return forgotten.has(message['id']) ? 200 : post(url, message);
    },
  };
}

function lateAtFirst() {
  let calls = 0;
  return async (status: number) => {
    if (calls++ === 0) await runnableSleep(1_500);
    return status;
  };
}

function resultFor(body: string) {
  const { id, group_id } = fieldsIn(body);
  return { status: 200, body: JSON.stringify({ type: 'tool_result', id, group_id, text: 'done' }) };
}
