import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { readTranscript } from '../../../src/events/transcript-reader.js';
import { JournalReports } from '../../../src/mock/journal/report.js';
import { replying, stageWith } from '../stage.js';

const token = 'canary-canary-canary-canary-canary-canary-1';
const callbackPath = `/back/${token}?token=${token}`;
const about = { startedAt: '2025-01-01T00:00:00.000Z', program: 'test/1' };

const reports = (kept: readonly Event[], forgotten = 0) => new JournalReports({ kept, forgotten }, about);
const reportOf = (kept: readonly Event[], forgotten = 0) =>
  JSON.parse(Buffer.concat([...reports(kept, forgotten).report()]).toString());
const transcriptOf = (kept: readonly Event[]) => Buffer.concat([...reports(kept).transcript()]).toString();

async function eventsOf(reply: unknown, options: object = {}) {
  await using stage = await stageWith(replying(reply));
  await stage.invoke({ callbackPath, headers: { authorization: `Bearer ${token}2` }, ...options });
  await stage.tool.waitForDelivery('i');
  return stage.tool.events;
}

describe('row 25: no secret of a callback URL leaves the mock', () => {
  test.each<[string, unknown]>([
    ['a plain reply', { payload: 'done' }],
    ['one that echoes it', { result: { text: `see\n${token}`, url: `http://127.0.0.1/${token}` } }],
  ])('%s', async (_, reply) => {
    const events = await eventsOf(reply);
    expect(JSON.stringify(events.map(event => ('url' in event ? event.url : '')))).toContain(token);
    expect(JSON.stringify(reportOf(events))).not.toContain(token);
    expect(transcriptOf(events)).not.toContain('canary');
  });
});

test('a call as plain JSON', async () => {
  const events = await eventsOf({ payload: 'done' }, { callId: 'c', args: { a: 1 } });
  const { calls, ...rest } = reportOf(events, 3);
  expect(rest).toEqual({ events: events.length, forgotten: 3 });
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

test('a malformed call has nulls, and the ids that could be read', async () => {
  const events = await eventsOf({ payload: 'x' }, { fields: { operation: 7 } });
  expect(reportOf(events)).toMatchObject({
    calls: [{ id: 'i', group_id: 'g', operation: null, invocation: null, fixture: null, state: 'delivered' }],
  });
});

test('the transcript can be read back', async () => {
  const events = await eventsOf({ payload: 'done' });
  const transcript = readTranscript(transcriptOf(events).split('\n'));
  expect(transcript.events.map(({ kind }) => kind)).toEqual(events.map(({ kind }) => kind));
  expect(transcript).toMatchObject({ end: 'asked', faults: [], lost: [] });
});
