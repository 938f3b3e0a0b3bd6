import { describe, expect, test } from 'vitest';
import { conformanceOf, type Standing, type Verdict } from '../../src/check/conformance.js';
import type { CaseCheck, Check, CheckStatus } from '../../src/check/report.js';

const row = (status: CheckStatus, id: Check['id'] = 'TOOL-ACK'): Check => ({
  id,
  side: 'tool',
  level: 'MUST',
  status,
  reason: 'a reason',
  events: [],
});
const aCase = (status: CaseCheck['status']): CaseCheck => ({
  place: 'c.yaml:1',
  operation: 'a',
  status,
  reason: '',
  events: [],
});
const plain = { sides: ['tool'] } as const;
const expectedFailure = { id: 'TOOL-ACK', reason: 'known', place: 'f.yaml:1' } as const;

describe('the verdict on a run', () => {
  test.each<[string, Verdict, Check[], CaseCheck[]]>([
    ['zero checks never pass', 'incomplete', [], []],
    ['neither do rules that do not apply', 'incomplete', [row('not-applicable')], []],
    ['a pass', 'passed', [row('pass'), row('not-applicable')], []],
    ['a warning is not a failure', 'passed', [row('pass'), row('warn')], []],
    ['a gap', 'incomplete', [row('pass'), row('could-not-run')], []],
    ['a flaky rule neither passed nor failed', 'incomplete', [row('pass'), row('flaky')], []],
    ['a failure takes precedence over a flaky rule', 'failed', [row('fail'), row('flaky')], []],
    ['a failure takes precedence over a gap', 'failed', [row('fail'), row('could-not-run')], []],
    ['a case that passes', 'passed', [row('not-applicable')], [aCase('pass')]],
    ['a case that fails', 'failed', [row('pass')], [aCase('fail')]],
    ['a case that was not called', 'incomplete', [row('pass')], [aCase('could-not-run')]],
  ])('%s: %s', (_, verdict, checks, cases) => {
    expect(conformanceOf(checks, cases, plain).verdict).toBe(verdict);
  });

  test('--strict: a warning is a failure', () => {
    const run = conformanceOf([row('pass'), row('warn')], [], { ...plain, isStrict: true });
    expect(run.verdict).toBe('failed');
    expect(run.checks.map(({ standing }) => standing)).toEqual(['passed', 'failed']);
  });
});

describe('gaps in the recording', () => {
  const lossy = { ...plain, gaps: [{ place: 'run.ndjson:7', reason: 'not valid JSON' }] };

  test.each<[string, Verdict, Check[]]>([
    ['may hide a violation', 'incomplete', [row('pass')]],
    ['improve nothing', 'incomplete', [row('could-not-run')]],
    ['hide no violation that was found', 'failed', [row('fail')]],
  ])('%s: %s', (_, verdict, checks) => {
    expect(conformanceOf(checks, [], lossy)).toMatchObject({ verdict, gaps: lossy.gaps });
  });
});

describe('an expected failure', () => {
  test.each<[CheckStatus, Standing, Verdict]>([
    ['fail', 'expected', 'passed'],
    ['flaky', 'expected', 'passed'],
    ['warn', 'expected', 'passed'],
    ['could-not-run', 'expected', 'passed'],
    ['pass', 'stale', 'failed'],
    ['not-applicable', 'not-applicable', 'passed'],
  ])('%s is %s: %s', (status, standing, verdict) => {
    const run = conformanceOf([row(status), row('pass', 'TOOL-ID')], [], {
      ...plain,
      expectedFailures: [expectedFailure],
    });
    expect(run.checks[0]).toMatchObject({ standing, status, expectedFailure });
    expect(run.checks[1]).not.toHaveProperty('expectedFailure');
    expect(run.verdict).toBe(verdict);
  });

  test.each<[string, Partial<typeof expectedFailure> | { id: Check['id'] }, Check[], RegExp]>([
    ['of a rule that was not selected', {}, [], /^was not selected$/],
    [
      'of a rule of the other side',
      { id: 'RT-OP' },
      [],
      /^is a rule of the runtime; only the tool is checked$/,
    ],
    [
      'of a rule that nothing can show',
      { id: 'TOOL-RATE' },
      [row('not-applicable', 'TOOL-RATE')],
      /needs load/,
    ],
    ['of a rule that did not apply', {}, [row('not-applicable')], /^did not apply: a reason$/],
  ])('%s changes nothing: it is reported', (_, other, rows, why) => {
    const expectedFailures = [{ ...expectedFailure, ...other }];
    const run = conformanceOf([...rows, row('pass', 'TOOL-ID')], [], { ...plain, expectedFailures });
    expect(run.idle).toEqual([{ ...expectedFailures[0], why: expect.stringMatching(why) }]);
    expect(run.verdict).toBe('passed');
  });
});
