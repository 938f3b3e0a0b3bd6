import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CheckOptions, checkTranscript } from '../../src/check/judge.js';
import { RULES } from '../../src/check/rules/index.js';
import { readTranscript, readTranscripts } from '../../src/events/transcript-reader.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import { acknowledged, at, call, eventsOf, resultArrives, untrackedRequest } from '../events/build.js';
import { discovery, someCall } from './samples/parts.js';

const GOOD = eventsOf(call(), at(3, acknowledged()), at(9, resultArrives()));

const statuses = async (
  source: Parameters<typeof checkTranscript>[0],
  only: RequirementId[],
  options: CheckOptions = {},
) =>
  (await checkTranscript(source, { only: new Set(only), ...options })).checks.map(
    ({ id, status }) => `${id} ${status}`,
  );

describe('the rows', () => {
  test('are one per requirement of both sides, in the order of the protocol', async () => {
    const { checks, summary } = await checkTranscript(GOOD);
    expect(checks.map(({ id }) => id)).toEqual(Object.keys(RULES));
    expect(Object.values(summary).reduce((sum, count) => sum + count)).toBe(checks.length);
  });

  test('never pass for zero events', async () => {
    expect((await checkTranscript([])).summary).toMatchObject({ pass: 0, fail: 0 });
  });
});

describe('an incomplete recording', () => {
  test('does not fail for a missing event', async () => {
    const events = eventsOf(untrackedRequest('discovery', 404));
    expect(await statuses(events, ['TOOL-DISCOVER'])).toEqual(['TOOL-DISCOVER fail']);
    expect(await statuses(events, ['TOOL-DISCOVER'], { isWhole: false })).toEqual([
      'TOOL-DISCOVER could-not-run',
    ]);
  });

  test('does not blame the runtime for a probe whose plan is missing', async () => {
    const [own, probe] = [someCall('own'), someCall('probe', { operation: 'no_such_operation' })];
    const events = eventsOf(...[discovery(), own.plannedFor([]), own.sent(), probe.begun({ status: 400 })]);
    const rules: RequirementId[] = ['RT-FIELDS', 'RT-OP'];
    expect(await statuses(events, rules)).toEqual(['RT-OP fail', 'RT-FIELDS pass']);
    expect(await statuses(events, rules, { isWhole: false })).toEqual([
      'RT-OP could-not-run',
      'RT-FIELDS pass',
    ]);
  });
});

test.each([
  ['a probe', true, 'not-applicable'],
  ['no probe', false, 'fail'],
] as const)('an unknown operation that %s planned', async (_, isPlanned, status) => {
  const probe = someCall('probe', { operation: 'no_such_operation' });
  const plan = isPlanned ? probe.plannedFor([]) : [];
  const events = eventsOf(discovery(), plan, probe.begun({ status: 400 }));
  expect(await statuses(events, ['RT-OP', 'TOOL-UNKNOWN-OP'])).toEqual([
    'TOOL-UNKNOWN-OP warn',
    `RT-OP ${status}`,
  ]);
});

const FOLDER = fileURLToPath(new URL('../../fixtures/transcripts', import.meta.url));

const linesOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8').trimEnd().split('\n');

/** Transcripts that `invoke` wrote of real runs. */
describe.each(readdirSync(FOLDER))('%s', name => {
  test('our runtime meets its requirements', async () => {
    const { checks } = await checkTranscript(readTranscript(linesOf(name)), { sides: ['runtime'] });
    const seen = checks.filter(({ status }) => status !== 'not-applicable');
    expect(seen.filter(({ status }) => status !== 'pass')).toEqual([]);
    expect(seen.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['RT-OP', 'RT-ARGS', 'RT-ID', 'RT-FIELDS']),
    );
  });

  test('no rule fails because a line is missing', async () => {
    const failed = async (lines: readonly string[]) => {
      const { checks } = await checkTranscript(readTranscripts(lines));
      return checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
    };
    const lines = linesOf(name);
    const known = await failed(lines);
    for (const at of lines.keys())
      expect(known, lines[at]).toEqual(expect.arrayContaining(await failed(lines.toSpliced(at, 1))));
  });
});

test('judges several transcripts separately: one is incomplete', async () => {
  const whole = linesOf('diff.ndjson');
  const torn = whole.filter(line => !line.includes('"purpose":"callback"'));
  expect(await statuses(readTranscripts([...whole, ...whole]), ['TOOL-ALWAYS'])).toEqual([
    'TOOL-ALWAYS pass',
  ]);
  expect(await statuses(readTranscripts([...whole, ...torn]), ['TOOL-ALWAYS'])).toEqual([
    'TOOL-ALWAYS could-not-run',
  ]);
});
