import { describe, expect, test } from 'vitest';
import { mergeRuns } from '../../src/check/repeats.js';
import type { Check, CheckStatus } from '../../src/check/report.js';

const row = (status: CheckStatus, run = 1): Check => ({
  id: 'TOOL-ID',
  side: 'tool',
  level: 'MUST',
  status,
  reason: `in run ${run}`,
  events: [run],
});

/** The row of the rule after these runs; null: the run did not try it. */
function merged([first, ...others]: readonly [CheckStatus, ...(CheckStatus | null)[]]): Check | undefined {
  const repetitions = others.map((status, index) => ({
    run: index + 2,
    checks: status === null ? [] : [row(status, index + 2)],
  }));
  const transcriptOf = (_: Check, run: number) => `run${run}.ndjson`;
  return mergeRuns([row(first)], repetitions, { whyOnce: () => 'why', transcriptOf })[0];
}

describe('the verdicts of several runs', () => {
  const other = (run: number, status: CheckStatus) => ({
    transcript: 'run1.ndjson',
    other: { run, status, events: [run], transcript: `run${run}.ndjson` },
  });

  test.each<[readonly [CheckStatus, ...(CheckStatus | null)[]], CheckStatus, Check['runs']]>([
    [['fail', 'fail', 'fail'], 'fail', { failed: 3, of: 3 }],
    [['fail', 'pass', 'pass'], 'flaky', { failed: 1, of: 3, ...other(2, 'pass') }],
    [['fail', 'fail', 'pass'], 'flaky', { failed: 2, of: 3, ...other(3, 'pass') }],
    [['fail', 'warn', 'fail'], 'flaky', { failed: 2, of: 3, ...other(2, 'warn') }],
    [['fail', 'could-not-run', 'pass'], 'flaky', { failed: 1, of: 2, ...other(3, 'pass') }],
    [['fail', 'could-not-run', 'fail'], 'fail', { failed: 2, of: 2 }],
    [['fail', 'not-applicable', 'fail'], 'fail', { failed: 2, of: 2 }],
    [['fail', 'could-not-run', 'could-not-run'], 'flaky', { failed: 1, of: 3, ...other(2, 'could-not-run') }],
    [
      ['fail', 'not-applicable', 'not-applicable'],
      'flaky',
      { failed: 1, of: 3, ...other(2, 'not-applicable') },
    ],
    [['fail', 'fail'], 'fail', { failed: 2, of: 2 }],
    [['fail', 'fail', null], 'fail', { failed: 2, of: 2 }],
    [['fail', null, null], 'fail', { failed: 1, of: 1, why: 'why' }],
    [['fail'], 'fail', { failed: 1, of: 1, why: 'why' }],
    [['pass'], 'pass', undefined],
    [['warn'], 'warn', undefined],
    [['could-not-run'], 'could-not-run', undefined],
    [['not-applicable'], 'not-applicable', undefined],
  ])('%j: %s', (statuses, status, runs) => {
    const { runs: _, ...check } = merged(statuses) ?? row('pass');
    expect(check).toEqual({ ...row(status), reason: 'in run 1' }); // what the report quotes is the first run
    expect(merged(statuses)?.runs).toEqual(runs);
  });

  test('a failure that need not be repeated is left as it is', () => {
    expect(mergeRuns([row('fail')], [], { whyOnce: () => null })).toEqual([row('fail')]);
  });
});
