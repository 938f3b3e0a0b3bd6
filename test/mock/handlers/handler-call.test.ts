import { describe, expect, test } from 'vitest';
import { defineTool, type HandlerCall } from '../../../src/mock/handlers.js';
import { type Stage, stageWith } from '../stage.js';

const staged = (
  handle: (call: HandlerCall) => unknown,
  options: Parameters<typeof stageWith>[1] = {},
): Promise<Stage> =>
  stageWith(null, {
    ...options,
    handlers: [
      defineTool({ name: 'op', description: 'In code', inputSchema: {}, handle: (_, call) => handle(call) }),
    ],
  });

test('event() and view() are sent in order, before the result', async () => {
  await using stage = await staged(async call => {
    await call.event('halfway');
    await call.event({ text: 'nearly', associative: true });
    await call.view({ view_type: 'diff', content: { patch: 'p' } });
    return 'done';
  });
  const call = await stage.invoke();
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
    await using stage = await staged(call => call.choice({ prompt: '?', choices: [], ...question }));
    const call = await stage.invoke();
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
    await using stage = await staged(call => call.oauth({ scopes: ['repo'] }));
    const call = await stage.invoke();
    const { body } = await call.waitFor('oauth');
    const { page } = await stage.runtime.visitConsent(String(body?.['auth_url']), decision);
    expect([page.body, (await call.result()).body]).toMatchObject([
      expect.stringContaining('<code>repo</code>'),
      { text },
    ]);
  });
});

test('a question that a handler did not await is closed with its call', async () => {
  await using stage = await staged(call => {
    void call.choice({ prompt: '?', choices: ['a'] });
    return 'done';
  });
  const call = await stage.invoke();
  await call.result();
  await call.waitFor('user_choice');
  await stage.tool.waitForDelivery('i');
  expect((await stage.runtime.choose(call, 0)).status).toBe(200);
  expect([stage.told('decided'), stage.tool.fire()]).toEqual([[], 0]);
});
