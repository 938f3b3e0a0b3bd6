import { describe, expect, test } from 'vitest';
import { replying, startMock } from '../start-mock.js';

const token = 'canary-canary-canary-canary-canary-canary-1';
const callbackPath = `/back/${token}?token=${token}`;

/** A call, and both forms of the list of calls. */
async function journalsOf(reply: unknown, options: object = {}) {
  await using mock = await startMock(replying(reply));
  await mock.invoke({ callbackPath, headers: { authorization: `Bearer ${token}2` }, ...options });
  await mock.tool.waitForDelivery('i');
  const journal = async (accept: string) =>
    (await fetch(`${mock.tool.url}/__mock__/journal`, { headers: { accept } })).text();
  const { events } = mock.tool;
  return { events, report: await journal('*/*'), transcript: await journal('application/x-ndjson') };
}

describe('row 25: no secret of a callback URL is exported', () => {
  test.each<[string, unknown]>([
    ['a plain reply', { payload: 'done' }],
    [
      'a reply that echoes the secret',
      { result: { text: `see\n${token}`, url: `http://127.0.0.1/${token}` } },
    ],
  ])('%s', async (_, reply) => {
    const { events, report, transcript } = await journalsOf(reply);
    expect(JSON.stringify(events.map(event => ('url' in event ? event.url : '')))).toContain(token);
    expect(report).not.toContain(token);
    expect(transcript).not.toContain('canary');
  });
});

test('a call as plain JSON', async () => {
  const { events, report } = await journalsOf({ payload: 'done' }, { callId: 'c', args: { a: 1 } });
  const { calls, ...rest } = JSON.parse(report);
  expect(rest).toEqual({ events: events.length, forgotten: 0 });
  expect(calls).toEqual([
    {
      id: 'i',
      group_id: 'g',
      operation: 'op',
      invocation: expect.objectContaining({
        call_id: 'c',
        arguments: { a: 1 },
        callback_url: expect.stringMatching(
          /^http:\/\/127\.0\.0\.1:\d+\/back\/\[redacted\]\?token=\[redacted\]$/,
        ),
      }),
      fixture: 'one',
      state: 'delivered',
      receivedAt: expect.any(Number),
      arrivals: 1,
      acknowledgement: { status: 200, at: expect.any(Number) },
      deliveries: [
        {
          type: 'tool_result',
          url: expect.stringContaining('/back/[redacted]'),
          message: { type: 'tool_result', group_id: 'g', id: 'i', call_id: 'c', text: 'done' },
          delivered: true,
          attempts: [{ at: expect.any(Number), endedAt: expect.any(Number), status: 200 }],
        },
      ],
      dropped: [],
      warnings: [],
    },
  ]);
});
