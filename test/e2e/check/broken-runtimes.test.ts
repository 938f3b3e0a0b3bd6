import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/check/drive/run.js';
import type { Scenario } from '../../../src/check/drive/scenario.js';
import type { Check } from '../../../src/check/report.js';
import { RULES } from '../../../src/check/rules/index.js';
import { memoizeByObject } from '../../../src/util/collections.js';
import { FAULTS } from '../../peers/drivers/faults.mjs';
import { runDriver } from '../../peers/drivers/runtime.mjs';
import { checksOfRuntime, checksOfRuntimes, driverHere, verdicts } from '../support/drivers.js';

/** Runs a driver in this process. */
function openInProcess(fault?: string, log?: string) {
  return driverHere(streams => runDriver({ ...streams, fault }), log);
}

/** All scenarios for each runtime take a minute: that is for changes to rules and scenarios. */
const IS_FULL = process.env['ALL_SCENARIOS'] !== undefined;

/** Every runtime meets the scenarios of its fault and one of the others, every scenario several runtimes. */
function scenariosFor(breaks: string, place: number): readonly Scenario[] {
  return SCENARIOS.filter(
    ({ checks }, index) => IS_FULL || checks.some(id => id === breaks) || index === place % SCENARIOS.length,
  );
}

const FAULTY = Object.entries(FAULTS).map(([fault, { breaks }], place) => ({ fault, breaks, place }));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'protocol-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Visible in the log only, which names no scenario: so they run one after the other. */
const isLogged = ({ fault }: { fault: string }) => fault.startsWith('logs-');

const ABOUT_LOGS = SCENARIOS.filter(({ name }) => ['result', 'consent', 'wrong-ids'].includes(name));

/** Visible in times of some ms, which other runtimes in this process would change. */
const TIMED = [
  'retries-without-pause',
  'retries-with-equal-pauses',
  'handles-the-messages-of-a-thread-in-any-order',
];
const isTimed = ({ fault }: { fault: string }) => TIMED.includes(fault);

/** Whether one rule is violated, and others only if that rule masks them. */
function onesShown(breaks: string, checks: readonly Check[]) {
  const violations = checks.filter(({ status }) => status === 'fail' || status === 'warn');
  const masked = violations.flatMap(({ id }) => (id === breaks ? (RULES[id].masks ?? []) : []));
  return verdicts(checks, 'fail', 'warn').filter(
    ({ id }) => id === breaks || !masked.some(each => each === id),
  );
}

function expectOne(breaks: string, checks: readonly Check[]): void {
  const shown = onesShown(breaks, checks);
  expect(
    shown.map(({ id }) => id),
    JSON.stringify(shown, null, 1),
  ).toEqual([breaks]);
  // Recordings are judged one by one, so a repetition of these scenarios has all that the verdict rests on.
  const unnamed = checks.filter(({ status, scenarios = [] }) => status === 'fail' && scenarios.length === 0);
  expect(unnamed).toEqual([]);
}

const TOGETHER = FAULTY.filter(each => !isLogged(each) && !isTimed(each));

/** How long silence is waited for: a busy machine may need more, so a runtime that is misjudged plays once more, and waits longer. */
const SHORT_MS = 1_500;

describe('a runtime', { timeout: 600_000 }, () => {
  const played = TOGETHER.map(({ fault, breaks, place }) => ({
    ...{ fault, breaks, open: openInProcess(fault) },
    scenarios: scenariosFor(breaks, place),
  }));
  const together = memoizeByObject((players: typeof played) =>
    checksOfRuntimes(players, { windowMs: SHORT_MS }),
  );

  test.each(played)('that $fault breaks $breaks', async each => {
    const { breaks, open, scenarios } = each;
    const checks = (await together(played))[played.indexOf(each)] ?? [];
    const isAsExpected =
      onesShown(breaks, checks)
        .map(({ id }) => id)
        .join() === breaks;
    expectOne(breaks, isAsExpected ? checks : await checksOfRuntime(open, { scenarios }));
  });

  test('that is right passes all scenarios', async () => {
    const checks = await checksOfRuntime(openInProcess());
    expect(verdicts(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
  });

  test('that keeps a log without secrets passes', async () => {
    const log = join(folder, 'right');
    const checks = await checksOfRuntime(openInProcess(undefined, log), { log, scenarios: ABOUT_LOGS });
    expect(verdicts(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
    expect(verdicts(checks, 'pass').map(({ id }) => id)).toContain('RT-AUDIT');
  });

  test.concurrent.each(FAULTY.filter(isLogged))('that $fault breaks $breaks', async ({ fault, breaks }) => {
    const log = join(folder, fault);
    await writeFile(log, '');
    expectOne(breaks, await checksOfRuntime(openInProcess(fault, log), { log, scenarios: ABOUT_LOGS }));
  });

  // On a busy machine, a pause may be long that should have been short.
  test.each(FAULTY.filter(isTimed))('that $fault breaks $breaks', { retry: 5 }, async ({ fault, breaks }) => {
    const scenarios = SCENARIOS.filter(({ checks }) => checks.some(id => id === breaks));
    expectOne(breaks, await checksOfRuntime(openInProcess(fault), { scenarios, atOnce: 1 }));
  });
});
