import { describe, expect, test } from 'vitest';
import { sessionReportJsonSchema } from '../../../src/render/outputs/schemas.js';
import { jsonSession } from '../../../src/render/outputs/session.js';
import { createRedactor } from '../../../src/util/redact.js';
import { eventsOf, type Moment } from '../../events/build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  breaks,
  CLIENT_STORY,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  status,
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

describe('bites', () => {
  test.each<[string, (report: Record<string, unknown>) => unknown]>([
    ['a member that is not in it', report => ({ ...report, more: 1 })],
    ['a report without its warnings', ({ warnings: _, ...report }) => report],
    [
      'an outcome that no one knows',
      report => ({ ...report, calls: [{ ...Object(report['calls'])[0], outcome: { type: 'x' } }] }),
    ],
  ])('%s', async (_, change) => {
    expect(faultsOf(change(await reported(CLIENT_STORY)))).not.toEqual([]);
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
