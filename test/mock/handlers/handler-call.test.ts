import { describe, expect, test } from 'vitest';
import { defineTool, type HandlerCall } from '../../../src/mock/handlers.js';
import { type StartedMock, startMock } from '../start-mock.js';

const startHandler = (
  handle: (call: HandlerCall) => unknown,
  options: Parameters<typeof startMock>[1] = {},
): Promise<StartedMock> =>
  startMock(null, {
    ...options,
    handlers: [
      defineTool({ name: 'op', description: 'In code', inputSchema: {}, handle: (_, call) => handle(call) }),
    ],
  });

test('event() and view() are sent in order, before the result', async () => {
  await using mock = await startHandler(async call => {
    await call.event('halfway');
    await call.event({ text: 'nearly', associative: true });
    await call.view({ view_type: 'diff', content: { patch: 'p' } });
    return 'done';
  });
  const call = await mock.invoke();
  await call.result();
  expect(call.callbacks.map(({ raw }) => raw)).toEqual([
    '{"type":"subscription_event","group_id":"g","tool_call_id":"i","text":"halfway"}',
    '{"type":"subscription_event","group_id":"g","tool_call_id":"i","text":"nearly","associative":true}',
    '{"type":"view_update","group_id":"g","view_type":"diff","content":{"patch":"p"}}',
    '{"type":"tool_result","group_id":"g","id":"i","text":"done"}',
  ]);
});

describe('TOOL-CHOICE: choice()', () => {
  test.each<[object]>([
    [{ choices: [] }],
    [{ choices: ['a'], default: 1 }],
    [{ choices: ['a'], default: -1 }],
  ])('%j is rejected', async question => {
    await using mock = await startHandler(call => call.choice({ prompt: '?', choices: [], ...question }));
    const call = await mock.invoke();
    expect((await call.result()).body).toMatchObject({
      text: 'Error: a choice needs choices, and its default must be the index of one of them',
    });
    expect(call.callbacks).toHaveLength(1);
  });
});

describe('TOOL-OAUTH: oauth()', () => {
  test.each([
    ['grant', 'granted'],
    ['refuse', 'refused'],
  ] as const)('%s', async (decision, text) => {
    await using mock = await startHandler(call => call.oauth({ scopes: ['repo'] }));
    const call = await mock.invoke();
    const { body } = await call.waitFor('oauth');
    const { page } = await mock.runtime.visitConsent(String(body?.['auth_url']), decision);
    expect([page.body, (await call.result()).body]).toMatchObject([
      expect.stringContaining('<code>repo</code>'),
      { text },
    ]);
  });
});

test('a question that a handler did not await is closed with its call', async () => {
  await using mock = await startHandler(call => {
    void call.choice({ prompt: '?', choices: ['a'] });
    return 'done';
  });
  const call = await mock.invoke();
  await call.result();
  await call.waitFor('user_choice');
  await mock.tool.waitForDelivery('i');
  expect((await mock.runtime.choose(call, 0)).status).toBe(200);
  expect([mock.eventsOfKind('decided'), mock.tool.fire()]).toEqual([[], 0]);
});
