import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../../src/check/rules/all.js';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { HOSTILE, LONG_ID, LOOK, STORY, TOKEN } from './story-of.js';

const text = CHECK_FORMATS.json(STORY, LOOK);
const report = JSON.parse(text);

test('one row per rule: id, level, side, status, reason, events', () => {
  expect(report).toMatchObject({
    program: 'protocol-cli/test',
    target: 'http://127.0.0.1:3001',
    verdict: 'failed',
  });
  expect(report.checks).toHaveLength(10);
  expect(report.checks[2]).toMatchObject({
    id: 'TOOL-ID',
    level: 'MUST',
    side: 'tool',
    status: 'fail',
    standing: 'failed',
    reason: 'reason of TOOL-ID',
    events: [2, 3],
    expected: 'call_abc123',
    masks: ['TOOL-RETRY'],
    advice: REQUIREMENTS['TOOL-ID'].advice,
    calls: [{ operation: 'edit_file', id: LONG_ID }],
  });
  expect(report.cases[1].calls).toEqual([{ operation: HOSTILE, id: null }]);
  expect(report.checks[0]).not.toHaveProperty('advice');
});

test('what is not fine has what was on the wire: cut, and secrets out', () => {
  expect(report.checks[2].evidence).toEqual([
    {
      event: 2,
      method: 'POST',
      url: '/callback/token',
      operation: 'edit_file',
      end: '200',
      endedBy: null,
      ms: expect.any(Number),
      request: [{ place: null, text: expect.stringContaining('"id":"other"') }],
      response: [],
    },
  ]);
  expect(report.checks[0]).not.toHaveProperty('evidence');
  expect(text).not.toContain(TOKEN);
  expect(report.durationMs).toBeGreaterThan(0);
});

test('an expected failure keeps its status', () => {
  const row = report.checks.find(({ id }: { id: string }) => id === 'TOOL-NOLEAK');
  expect(row).toMatchObject({
    status: 'warn',
    standing: 'expected',
    expectedFailure: { reason: 'known since March', place: 'known.yaml:1' },
  });
  expect(row).not.toHaveProperty('excuse');
});

test('an expected failure that could not be seen says why', () => {
  expect(report.idleExpectedFailures).toEqual([
    { id: 'TOOL-CHOICE', reason: 'asks twice', place: 'known.yaml:3', why: 'did not apply: nothing asked' },
  ]);
});

test('cases and the summary', () => {
  expect(report.cases.map(({ place, status }: Record<string, string>) => [place, status])).toEqual([
    ['c.yaml:3', 'pass'],
    ['c.yaml:5', 'fail'],
    ['c.yaml:7', 'could-not-run'],
  ]);
  expect(report.summary).toEqual({ pass: 4, fail: 1, warn: 2, 'not-applicable': 2, 'could-not-run': 1 });
});

test('row 24: safe on a terminal as it is', () => {
  expect(unsafeIn(text)).toEqual([]);
});

test('what was worth a word is in each report that others read', () => {
  const story = { ...STORY, warnings: ['no operation is called'] };
  expect(JSON.parse(CHECK_FORMATS.json(story, LOOK)).warnings).toEqual(['no operation is called']);
  expect(CHECK_FORMATS.github(story, LOOK)).toContain(
    '::warning title=protocol-cli check::no operation is called\n',
  );
  expect(CHECK_FORMATS.junit(story, LOOK)).toContain('<system-out>no operation is called\n');
  expect(CHECK_FORMATS.human(story, LOOK)).toContain('Notes\n  no operation is called\n');
});
