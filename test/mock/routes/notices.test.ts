import { describe, expect, test } from 'vitest';
import { replying, stageWith } from '../stage.js';

const migrating = {
  ...replying({ payload: 'x' }),
  toolset: {
    name: 'moving',
    needsMigration: true,
    tools: [{ name: 'op', description: 'Does it', inputSchema: { type: 'object' } }],
  },
};

describe('TOOL-CANCEL, TOOL-CLOSE: 200 always, with an empty body', () => {
  test.each<[string, unknown]>([
    ['/cancel_tool_call', { thread_id: 'g', tool_call_id: 'i' }],
    ['/cancel_tool_call', { thread_id: 'unknown', tool_call_id: '../../etc/passwd' }],
    ['/cancel_tool_call', { thread_id: 7 }],
    ['/cancel_tool_call', 'no JSON'],
    ['/close_thread', { thread_id: 'g' }],
    ['/close_thread', { thread_id: '__proto__' }],
    ['/close_thread', {}],
    ['/close_thread', '\u0000'],
  ])('%s %j, repeated', async (path, body) => {
    await using stage = await stageWith(replying({ payload: 'x' }));
    await (await stage.invoke()).result();
    for (const _ of [1, 2]) {
      const answer = await stage.post(path, body);
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    }
  });

  test('each is logged, with its call and thread', async () => {
    await using stage = await stageWith(replying({ payload: 'x' }));
    await stage.runtime.cancel(stage.tool.url, 'g', 'i');
    await stage.runtime.closeThread(stage.tool.url, 'g');
    expect(stage.told('request')).toMatchObject([
      { purpose: 'cancel', from: 'runtime', to: 'tool', calls: ['["g","i"]'], thread: 'g' },
      { purpose: 'close', from: 'runtime', to: 'tool', thread: 'g' },
    ]);
    expect(stage.told('response').map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('TOOL-MIGRATE', () => {
  const move = { session_id: 'g', destination_url: 'https://new.example/' };

  test.each([{}, { session_id: 'g' }, { ...move, destination_url: 'nowhere' }, 'no JSON'])(
    '400 for %j',
    async body => {
      await using stage = await stageWith(migrating);
      const answer = await stage.post('/migrate', body);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringMatching(/^not migrated: \d error/),
      ]);
    },
  );

  test('without needsMigration there is no such route', async () => {
    await using stage = await stageWith(replying({ payload: 'x' }));
    expect((await stage.post('/migrate', move)).status).toBe(404);
  });
});
