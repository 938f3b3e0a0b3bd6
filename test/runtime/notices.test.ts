import { describe, expect, test } from 'vitest';
import { cancelToolCall, closeThread, respondToChoice } from '../../src/runtime/notices.js';
import type { Wire } from '../../src/runtime/wire.js';
import { KEY, THREAD } from '../exchange/build.js';
import { type Reply, startServing } from '../support/serving.js';
import { workbench } from './wire-of.js';

const CALL = { key: KEY, thread: THREAD, id: KEY };
const NOTICES: [string, (wire: Wire, base: string) => Promise<boolean>, string, object][] = [
  ['close_thread', (wire, base) => closeThread(wire, base, THREAD), '/close_thread', { thread_id: THREAD }],
  [
    'cancel_tool_call',
    (wire, base) => cancelToolCall(wire, base, CALL),
    '/cancel_tool_call',
    { thread_id: THREAD, tool_call_id: KEY },
  ],
  [
    'RT-CHOICE: a selection',
    (wire, base) => respondToChoice(wire, `${base}/choices/1?x=2`, CALL, { id: KEY, selected: 1 }),
    '/choices/1?x=2',
    { id: KEY, selected: 1 },
  ],
];

describe.each(NOTICES)('%s', (_, send, path, body) => {
  test('is a POST of exactly its fields', async () => {
    await using server = await startServing(200);
    await using bench = workbench();
    expect(await send(bench.wire, server.url.slice(0, -1))).toBe(true);
    expect(server.requests).toMatchObject([{ method: 'POST', url: path }]);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(body);
  });

  test.each<Reply>([500, 404, 302, 204, 'reset'])(
    'RT-NOTIFY: answered %s, it is not sent again, and nothing is thrown',
    async reply => {
      await using server = await startServing(reply);
      await using bench = workbench();
      expect(await send(bench.wire, server.url.slice(0, -1))).toBe(false);
      expect(server.requests).toHaveLength(1);
      expect(bench.history.errands.size).toBe(1);
    },
  );
});
