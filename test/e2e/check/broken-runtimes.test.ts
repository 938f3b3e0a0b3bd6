import { setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gather } from '../../../src/check/evidence.js';
import { type Check, checksOf } from '../../../src/check/judge.js';
import { LineReader, type OpenDriver } from '../../../src/check/runtime/driver.js';
import { LogFile } from '../../../src/check/runtime/findings.js';
import { runScenarios } from '../../../src/check/runtime/run.js';
import type { Scenario } from '../../../src/check/runtime/scenario.js';
import { SCENARIOS } from '../../../src/check/runtime/scenarios.js';
import { systemClock } from '../../../src/system/clock.js';
import { FAULTS } from '../../peers/drivers/faults.mjs';
import { runDriver } from '../../peers/drivers/runtime.mjs';

interface Running {
  readonly fault?: string;
  readonly scenarios?: readonly Scenario[];
  /** The file of the runtime's own log. */
  readonly log?: string;
}

/** Runs a driver in this process. */
function openInProcess({ fault, log }: Running): OpenDriver {
  return async setting => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const reader = new LineReader(setting);
    output.on('data', (chunk: Buffer) => void reader.add(chunk));
    const env = { ...setting.env, LOG: log };
    const ended = runDriver({ input, output, env, fault }).then(
      () => 'ended with status 0',
      (error: Error) => `crashed: ${error.message}`,
    );
    return {
      send: instruction => void input.write(`${JSON.stringify(instruction)}\n`),
      ended,
      lastLines: () => [],
      async stop() {
        input.end();
        await ended;
      },
    };
  };
}

/** Of many scenarios at the same time. */
const { signal } = new AbortController();
setMaxListeners(0, signal);

const AT_ONCE = 10;

async function checksOfRuntime(running: Running): Promise<readonly Check[]> {
  const { scenarios = SCENARIOS, log } = running;
  const recordings = await runScenarios(scenarios, {
    open: openInProcess(running),
    clock: systemClock,
    windowMs: 2_000,
    signal,
    ...(log === undefined ? { atOnce: AT_ONCE } : { logFile: new LogFile(log) }),
  });
  const evidences = await Promise.all(recordings.map(recording => gather(recording, 'runtime')));
  return checksOf('runtime', evidences);
}

/** All scenarios for each runtime take a minute: that is for changes to rules and scenarios. */
const IS_FULL = process.env['ALL_SCENARIOS'] !== undefined;

/** Every runtime meets the scenarios of its fault and a part of the others, every scenario several runtimes. */
const PARTS = 6;

function scenariosFor(breaks: string, place: number): readonly Scenario[] {
  return SCENARIOS.filter(
    ({ checks }, index) => IS_FULL || checks.some(id => id === breaks) || index % PARTS === place % PARTS,
  );
}

const statuses = (checks: readonly Check[], ...wanted: readonly Check['status'][]) =>
  checks
    .filter(({ status }) => wanted.includes(status))
    .map(({ id, status, reason }) => ({ id, status, reason }));

const FAULTY = Object.entries(FAULTS).map(([fault, { breaks }], place) => ({ fault, breaks, place }));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'protocol-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Visible in the log only, which names no scenario: so they run one after the other. */
const isLogged = ({ fault }: { fault: string }) => fault.startsWith('logs-');

const ABOUT_LOGS = SCENARIOS.filter(({ name }) => name === 'result' || name === 'consent');

/** Expects one violated rule, and others only if that rule masks them. */
function expectOne(breaks: string, checks: readonly Check[]): void {
  const violations = checks.filter(({ status }) => status === 'fail' || status === 'warn');
  const masked = violations.flatMap(({ id, masks = [] }) => (id === breaks ? masks : []));
  const shown = statuses(checks, 'fail', 'warn').filter(({ id }) => !masked.some(each => each === id));
  expect(
    shown.map(({ id }) => id),
    JSON.stringify(shown, null, 1),
  ).toEqual([breaks]);
}

describe.concurrent('a runtime', { timeout: IS_FULL ? 300_000 : 60_000 }, () => {
  test('that is right passes all scenarios', async () => {
    const checks = await checksOfRuntime({});
    expect(statuses(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
  });

  test('that keeps a log without secrets passes', async () => {
    const log = join(folder, 'right');
    const checks = await checksOfRuntime({ log, scenarios: ABOUT_LOGS });
    expect(statuses(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
    expect(statuses(checks, 'pass').map(({ id }) => id)).toContain('RT-AUDIT');
  });

  test.each(FAULTY.filter(each => !isLogged(each)))('that $fault breaks $breaks', async each => {
    const scenarios = scenariosFor(each.breaks, each.place);
    expectOne(each.breaks, await checksOfRuntime({ ...each, scenarios }));
  });

  test.each(FAULTY.filter(isLogged))('that $fault breaks $breaks', async ({ fault, breaks }) => {
    const log = join(folder, fault);
    await writeFile(log, '');
    expectOne(breaks, await checksOfRuntime({ fault, log, scenarios: ABOUT_LOGS }));
  });
});
