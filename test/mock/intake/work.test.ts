import { describe, expect, test } from 'vitest';
import type { Conversation } from '../../../src/mock/conversation.js';
import { type Plan, planWithoutFaults } from '../../../src/mock/plan.js';
import { intakeWith } from '../start-mock.js';

const CANCELED = '{"canceled":{"reason":"the call was canceled","by":"user"}}';

async function setUp() {
  const { openCalls, conversation, sent, log } = await intakeWith(null);
  openCalls.admit(conversation.call, new Uint8Array());
  return { work: (plan: Plan) => openCalls.carryOut(plan, conversation), sent, conversation, log };
}

test.each<[string, Plan['perform'], string, string | null]>([
  ['sends nothing', async () => {}, 'Error: the tool ended without a result', null],
  [
    'sends only a view',
    each => each.view({ view_type: 'x', content: {} }),
    'Error: the tool ended without a result',
    null,
  ],
  [
    'fails after its result',
    async each => {
      await each.result({ text: 'done' });
      throw new Error('too late');
    },
    'done',
    null,
  ],
  ['ends after a cancel', async () => {}, CANCELED, 'the call was canceled'],
  ['fails after a cancel', () => Promise.reject(new Error('aborted')), CANCELED, 'the call was canceled'],
])('TOOL-ALWAYS, TOOL-ONCE: a call that %s ends in one result', async (_, perform, text, reason) => {
  const { work, sent, conversation } = await setUp();
  if (reason !== null) conversation.call.cancel(reason);
  await work(planWithoutFaults([], perform));
  expect(sent.filter(each => each !== undefined)).toEqual([text]);
});

test('TOOL-SECRET: if redaction fails, the message is withheld', async () => {
  const { work, sent } = await setUp();
  const redact = () => {
    throw new RangeError('too many');
  };
  await work({ ...planWithoutFaults([], () => Promise.reject(new Error('hunter2'))), redact });
  expect(sent).toEqual(['Error: the tool failed']);
});

describe('an open subscription', () => {
  const opened = (each: Conversation) => each.result({ text: 'on', subscription: true });
  const closed = async (each: Conversation) => {
    await opened(each);
    await each.event({ text: 'last', final: true });
  };

  test.each<[string, Plan['perform'], { isOpenEnded?: boolean }, number]>([
    ['by fixtures that send nothing more is reported', opened, {}, 1],
    ['by code, which may send more at any time, is not', opened, { isOpenEnded: true }, 0],
    ['is closed after its last event', closed, {}, 0],
    ['does not exist without a subscription', each => each.result({ text: 'done' }), {}, 0],
  ])('%s', async (_, perform, plan, count) => {
    const { work, log, conversation } = await setUp();
    setImmediate(() => conversation.call.cancel('it is over'));
    const warned: string[] = [];
    log.subscribe(event => void (event.kind === 'warned' && warned.push(event.message)));
    await work({ ...planWithoutFaults([], perform), ...plan });
    expect(warned).toHaveLength(count);
    for (const message of warned) expect(message).toContain('no final event was sent');
  });
});

test.each<readonly [string, string]>([
  ["ENOENT: no such file, open '/home/me/.ssh/nothing'", "ENOENT: no such file, open '…/nothing'"],
  ["open '/home/me/My Files/a b.txt'", "open '…/a b.txt'"],
  ["rename '/a/b' -> '/a/c'", "rename '…/b' -> '…/c'"],
  ['cannot find file:///srv/app/x.js', 'cannot find …/x.js'],
  ['in C:\\Users\\me\\x.txt at 3', 'in …/x.txt at 3'],
  ['(/srv/app/x.js:3:4)', '(…/x.js:3:4)'],
  ...[
    'a and/or b',
    'GET http://127.0.0.1:3000/a/b/c answered 404',
    'http://[::1]/a/b',
    'src/a/b.ts has no end',
    'on 01/02/2025',
    '/invoke is busy',
  ].map(unchanged => [unchanged, unchanged] as const),
])('TOOL-NOLEAK: %s', async (message, clean) => {
  const { work, sent } = await setUp();
  await work(planWithoutFaults([], () => Promise.reject(new Error(message))));
  expect(sent).toEqual([`Error: ${clean}`]);
});
