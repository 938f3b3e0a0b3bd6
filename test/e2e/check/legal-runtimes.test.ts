import { beforeAll, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/check/runtime/run.js';
import { LEGAL, runLegal } from '../../peers/drivers/legal.mjs';
import { checksOfRuntimes, driverHere, verdicts } from '../support/drivers.js';

/**
 * Right runtimes that use what HTTP, JSON and the protocol allow: no rule fails, warns or cannot run. With `ALL_SCENARIOS=1` all scenarios
 * run, else those that the peculiarity could disturb.
 */
const isWhole = process.env['ALL_SCENARIOS'] === '1';

/** Scenarios mostly wait. */
const AT_ONCE = isWhole ? 48 : 32;

/** As long as users wait. */
const WINDOW_MS = 5_000;

const names = Object.keys(LEGAL);

const findings = new Map<string, ReturnType<typeof verdicts>>();

beforeAll(async () => {
  const players = Object.entries(LEGAL).map(([name, { disturbs }]) => ({
    open: driverHere(streams => runLegal(name, streams)),
    scenarios: SCENARIOS.filter(scenario => isWhole || disturbs.includes(scenario.name)),
  }));
  const checks = await checksOfRuntimes(players, { atOnce: AT_ONCE, windowMs: WINDOW_MS });
  for (const [index, name] of names.entries())
    findings.set(name, verdicts(checks[index] ?? [], 'fail', 'warn', 'could-not-run', 'flaky'));
}, 600_000);

test('there are at least thirty, and each names scenarios that exist', () => {
  expect(names.length).toBeGreaterThanOrEqual(30);
  const known = SCENARIOS.map(({ name }) => name);
  const unknown = Object.values(LEGAL).flatMap(({ disturbs }) =>
    disturbs.filter(name => !known.includes(name)),
  );
  expect(unknown).toEqual([]);
});

test.each(names)('no finding about a right runtime: %s', name => {
  expect(findings.get(name)).toEqual([]);
});
