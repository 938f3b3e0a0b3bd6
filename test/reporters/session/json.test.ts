import { describe, expect, test } from 'vitest';
import { jsonSession } from '../../../src/render/outputs/session/report.js';
import { sessionReportJsonSchema } from '../../../src/render/outputs/session-schema.js';
import { createRedactor } from '../../../src/util/redact.js';
import { at, eventsOf, type Moment } from '../../events/build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  BASE,
  breaks,
  CLIENT_STORY,
  failure,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  SESSION,
  status,
  warned,
} from '../../events/session/build.js';
import { callOf, legTo } from '../../render/session/legs.js';
import { publishedSchema, schemaText } from '../../support/published-schema.js';
import { tell } from './told.js';

const { path, exportedAs, faultsOf } = publishedSchema('session-report');
const TROUBLE = { code: 'timeout', message: 'nothing new', hint: 'Wait.', faults: ['$.a'] } as const;

async function reported(parts: readonly (readonly Moment[])[], trouble: typeof TROUBLE | null = null) {
  const { stdout } = await tell(
    (known, paper) => jsonSession(known, paper, createRedactor(['canary-key'])),
    eventsOf(...parts),
    { trouble },
  );
  return JSON.parse(stdout);
}

const begun = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS])];
const DENIED = '{"denied":{"tool":"lookup_order","reason":"not here"}}';

const STORIES: Readonly<Record<string, readonly (readonly Moment[])[]>> = {
  nothing: [],
  'a platform that knows no such session': [asks('changes'), answers(404, { leg: 'changes-1' })],
  'a whole session': CLIENT_STORY,
  'calls that wait': begun,
  'a post without an answer': [...begun, answered(LOOKUP, result(LOOKUP, null)), posts([LOOKUP]), breaks()],
  'a refused post': [
    ...begun,
    answered(LOOKUP, { kind: 'odd', tool_req: {} }),
    posts([LOOKUP]),
    answers(422),
  ],
  'a session that failed': [...begun, status('failed', { error: 'no more money' })],
  'a leg to a RAP tool': [
    status('running'),
    awaiting([callOf('call_1')]),
    ...legTo('call_1'),
    answered(callOf('call_1'), result(callOf('call_1'), 'shipped')),
  ],
};

test('is published as it is generated (to renew it: vitest -u)', async () => {
  await expect(schemaText(sessionReportJsonSchema())).toMatchFileSnapshot(path);
});

test('is exported by the package', () => {
  expect(exportedAs).toBe(path);
});

test.each(Object.keys(STORIES))('fits the report of %s', async name => {
  expect(faultsOf(await reported(STORIES[name] ?? []))).toEqual([]);
  expect(faultsOf(await reported(STORIES[name] ?? [], TROUBLE))).toEqual([]);
});

test('fits what is printed where a plan is wrong: no session was asked for', () => {
  expect(faultsOf({ warnings: [], error: TROUBLE })).toEqual([]);
});

describe('bites', () => {
  test.each<[string, (report: Record<string, unknown>) => unknown]>([
    ['a member that is not in it', report => ({ ...report, more: 1 })],
    ['a report without its warnings', ({ warnings: _, ...report }) => report],
    [
      'an outcome that nobody knows',
      report => ({ ...report, calls: [{ ...Object(report['calls'])[0], outcome: { type: 'x' } }] }),
    ],
  ])('%s', async (_, change) => {
    expect(faultsOf(change(await reported(CLIENT_STORY)))).not.toEqual([]);
  });
});

test('a whole session', async () => {
  const body = result(LOOKUP, 'shipped');
  expect(await reported(CLIENT_STORY.map((moments, index) => at(index * 100, moments)))).toEqual({
    session: {
      id: SESSION,
      url: `${BASE}/${SESSION}`,
      status: 'completed',
      rounds: 1,
      answer: 'Your order is shipped',
      error: null,
    },
    calls: [
      {
        key: 'call_1',
        tool_name: 'lookup_order',
        args: { order_id: 'A1' },
        id: 'call_1',
        round: 0,
        outcome: { type: 'success', basis: 'declared' },
        body,
        posted: { state: 'taken', status: 202, attempts: 1 },
        ms: 100,
      },
      {
        key: '#1',
        tool_name: 'lookup_order',
        args: {},
        id: null,
        round: 0,
        outcome: { type: 'error', message: 'Order not found', origin: 'custom_tools', basis: 'declared' },
        body: failure(NAMELESS, 'Order not found'),
        posted: { state: 'taken', status: 202, attempts: 1 },
        ms: 200,
      },
    ],
    forgotten: 0,
    warnings: [{ message: 'a note' }],
  });
});

test('what went wrong stands beside what was known until then', async () => {
  expect(await reported([...begun, warned('odd')], TROUBLE)).toMatchObject({
    session: { status: 'awaiting_tool_results' },
    calls: [{ key: 'call_1', outcome: null, posted: null, ms: null }, { key: '#1' }],
    warnings: [{ message: 'a note' }, { message: 'odd' }],
    error: TROUBLE,
  });
});

test('a kind of failure that the wire loses is known from the leg to the tool', async () => {
  const call = callOf('call_1');
  const leg = legTo('call_1', { type: 'tool_result', id: 'call_1', text: DENIED });
  const { calls } = await reported([
    status('running'),
    awaiting([call]),
    ...leg,
    answered(call, failure(call, 'denied')),
  ]);
  expect(calls[0].outcome).toEqual({
    type: 'denied',
    tool: 'lookup_order',
    reason: 'not here',
    basis: 'convention',
  });
});

test('row 25: no key is in it', async () => {
  const call = { ...LOOKUP, args: { seen: 'canary-key' } };
  const report = await reported([
    awaiting([call]),
    answered(call, result(call, 'canary-key')),
    status('failed', { error: 'canary-key' }),
  ]);
  expect(JSON.stringify(report)).not.toContain('canary-key');
  expect(report.session.error).toBe('[redacted]');
});

test('a success on a leg to a RAP tool is assumed there, and here', async () => {
  const { calls } = await reported(STORIES['a leg to a RAP tool'] ?? []);
  expect(calls[0].outcome).toEqual({ type: 'success', basis: 'assumed' });
});
