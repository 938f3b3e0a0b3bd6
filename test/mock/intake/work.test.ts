import { describe, expect, test } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import type { HttpRequest } from '../../../src/http/client.js';
import { plain } from '../../../src/mock/answer-calls.js';
import type { Conversation } from '../../../src/mock/conversation.js';
import { work } from '../../../src/mock/intake.js';
import { servicesOf } from '../../../src/mock/mock-tool.js';
import { RapConversation } from '../../../src/mock/rap-conversation.js';
import { Cancellation } from '../../../src/mock/reply-waits.js';

function setUp() {
  const log = createLog(() => 0);
  const sent: unknown[] = [];
  const send = async ({ body = new Uint8Array() }: HttpRequest) => {
    sent.push(JSON.parse(Buffer.from(body).toString()).text);
    return { status: 200, headers: {}, body: new Uint8Array() };
  };
  const services = servicesOf(log, { send, close: async () => {} }, {});
  const addressee = { callback_url: 'http://127.0.0.1:9/', group_id: 'g', id: 'i' };
  const cancellation = new Cancellation();
  const conversation = new RapConversation(
    { key: 'k', addressee, base: 'http://127.0.0.1', cancellation },
    services,
  );
  return { conversation, sent, cancellation, log };
}

test.each<[string, (conversation: Conversation) => Promise<void>, string]>([
  ['one that says nothing', async () => {}, 'Error: the tool ended without a result'],
  [
    'one that only shows something',
    each => each.view({ view_type: 'x', content: {} }),
    'Error: the tool ended without a result',
  ],
  ['one that fails', () => Promise.reject(new Error('no disk')), 'Error: no disk'],
  [
    'one that fails after its result',
    async each => {
      await each.result({ text: 'done' });
      throw new Error('too late');
    },
    'done',
  ],
])('TOOL-ALWAYS, TOOL-ONCE: %s ends in one result', async (_, perform, text) => {
  const { conversation, sent } = setUp();
  await work(plain([], perform), conversation);
  expect(sent.filter(each => each !== undefined)).toEqual([text]);
});

test.each<[string, () => Promise<void>]>([
  ['ends', async () => {}],
  ['fails', () => Promise.reject(new Error('aborted'))],
])('a cancelled call that then %s reports it', async (_, perform) => {
  const { conversation, sent, cancellation } = setUp();
  cancellation.cancel('the call was canceled');
  await work(plain([], perform), conversation);
  expect(sent).toEqual(['{"canceled":{"reason":"the call was canceled","by":"user"}}']);
});

test('what was meant to be silent stays so', async () => {
  const { conversation, sent } = setUp();
  await work(
    plain([], async each => each.silence()),
    conversation,
  );
  expect(sent).toEqual([]);
});

test('TOOL-NOLEAK, TOOL-SECRET: errors are reported without folders, and through middleware', async () => {
  const { conversation, sent } = setUp();
  const perform = () => Promise.reject(new Error("no hunter2: open '/home/me/.ssh/nothing'"));
  await work({ ...plain([], perform), words: each => each.replace('hunter2', '[redacted]') }, conversation);
  expect(sent).toEqual(["Error: no [redacted]: open '…/nothing'"]);
});

test('TOOL-SECRET: if redaction fails, the message is withheld', async () => {
  const { conversation, sent } = setUp();
  const words = () => {
    throw new RangeError('too many');
  };
  await work({ ...plain([], () => Promise.reject(new Error('hunter2'))), words }, conversation);
  expect(sent).toEqual(['Error: the tool failed']);
});

describe('a subscription that is left open', () => {
  const opened = (each: Conversation) => each.result({ text: 'on', subscription: true });
  const closed = async (each: Conversation) => {
    await opened(each);
    await each.event({ text: 'last', final: true });
  };

  test.each<[string, (conversation: Conversation) => Promise<void>, { isOpenEnded?: boolean }, number]>([
    ['by fixtures that send nothing more is reported', opened, {}, 1],
    ['by code, which may say more at any time, is not', opened, { isOpenEnded: true }, 0],
    ['is closed after its last event', closed, {}, 0],
    ['does not exist without a subscription', each => each.result({ text: 'done' }), {}, 0],
  ])('%s', async (_, perform, plan, count) => {
    const { conversation, log } = setUp();
    const warned: string[] = [];
    log.subscribe(event => void (event.kind === 'warned' && warned.push(event.message)));
    await work({ ...plain([], perform), ...plan }, conversation);
    expect(warned).toHaveLength(count);
    for (const message of warned) expect(message).toContain('ended without a final event');
  });
});
