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

/** With `ALL_SCENARIOS=1`, as in CI, every runtime meets all scenarios. */
const IS_FULL = process.env['ALL_SCENARIOS'] !== undefined;

/** The scenarios that show a fault, if the first one that tests its requirement does not. */
const SHOWN_IN: Readonly<Record<string, readonly string[]>> = {
  result: ['reuses-the-id-of-a-finished-call'],
  texts: ['trims-the-text', 'cuts-a-long-text', 'drops-control-characters', 'writes-json-anew'],
  content: ['gives-the-model-object-object', 'ignores-content', 'leaves-out-images'],
  'late-after-cancel': ['refuses-late-results'],
  'invalid-events': ['shows-malformed-views'],
  'not-json': ['answers-200-to-what-is-not-json', 'accepts-any-content-type'],
  display: ['gives-the-model-what-the-user-sees'],
  'status-500': ['hides-500-from-the-model'],
  'lost-acknowledgement': ['retries-no-lost-connection'],
  'slow-acknowledgement': ['reuses-the-id-of-a-finished-call'],
  'acknowledgement-with-body': [
    'sends-again-after-a-body',
    'takes-the-acknowledgement-for-the-result',
    'fails-after-an-error-in-the-acknowledgement',
  ],
  'parallel-calls': ['reuses-the-id-of-a-finished-call'],
  'unknown-operation': ['dispatches-unknown-operations', 'finds-operations-in-any-case'],
  arguments: ['does-not-validate-arguments', 'validates-no-argument-within-another'],
  'invalid-toolsets': ['loads-the-valid-tools-of-an-invalid-toolset'],
  'failed-migration': ['goes-on-after-a-failed-migration'],
  'choice-dismissed': ['sends-nothing-when-dismissed', 'sends-the-first-choice-when-dismissed'],
  'choice-refused': ['fails-the-call-when-the-selection-fails'],
  'choice-repeated': ['asks-a-repeated-question-again'],
  'choices-open': ['answers-the-newest-question-first', 'posts-to-the-response-url-of-the-latest-question'],
  consent: ['takes-a-consent-for-the-result'],
  'consent-canceled': ['leaks-the-auth-url-when-canceled'],
  'subscription-foreign': ['delivers-events-of-unknown-subscriptions'],
  'subscription-canceled': ['delivers-events-after-a-cancel'],
  'subscription-canceled-by-model': [
    'cancels-all-subscriptions-for-one',
    'delivers-events-after-the-model-canceled',
  ],
  'view-types': ['keeps-the-first-view', 'drops-views-of-unknown-types', 'crashes-on-an-unknown-view-type'],
};

/** Every runtime meets the scenarios that show its fault and one of the others, every scenario several runtimes. */
function scenariosFor(fault: string, breaks: string, place: number): readonly Scenario[] {
  if (IS_FULL) return SCENARIOS;
  const listed = SCENARIOS.filter(({ name }) => SHOWN_IN[name]?.includes(fault));
  const [first] = SCENARIOS.filter(({ checks }) => checks.some(id => id === breaks));
  const played = listed.length > 0 ? listed : [first];
  return SCENARIOS.filter((each, index) => played.includes(each) || index === place % SCENARIOS.length);
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
    scenarios: scenariosFor(fault, breaks, place),
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
