import { runnableSleep } from '../../../support/runnable-sleep.js';
import { type BrokenTools, fieldsIn, startTwisted, startWithOdd } from './tool.js';

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
  ],
};

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
