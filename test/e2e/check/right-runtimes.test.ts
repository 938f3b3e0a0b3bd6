import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/check/drive/run.js';
import type { Check } from '../../../src/check/report.js';
import { type StartedCommand, startCommand } from '../../../src/system/start-command.js';
import { runConnect } from '../../peers/drivers/connect.mjs';
import { type DriverStreams, runDriver } from '../../peers/drivers/runtime.mjs';
import { runSample } from '../../peers/drivers/sample.mjs';
import { VARIANTS } from '../../peers/drivers/variants.mjs';
import { checksOfRuntimes, driverHere, verdicts } from '../support/drivers.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { GOCACHE } from '../support/go.js';

/** No scenario of a right runtime shows these. */
const NEVER = ['RT-SANITIZE', 'RT-AUDIT', 'RT-TIMEOUT'];

let python: StartedCommand;

/** test/e2e/record/loop.test.ts starts it as users do. */
async function runPython({ input, output, env }: DriverStreams): Promise<void> {
  const socket = connect(Number(new URL(python.url).port), '127.0.0.1');
  socket.write(`${JSON.stringify(env)}\n`);
  input.pipe(socket).pipe(output);
  await once(socket, 'close');
}

let goDriver: Folder;

/** `go run` takes longer than a scenario; test/e2e/init.test.ts starts it as users do. */
async function runGo({ input, output, env }: DriverStreams): Promise<void> {
  const child = spawn(goDriver.file('driver'), {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  input.pipe(child.stdin);
  child.stdout.pipe(output);
  await once(child, 'close');
}

/** Runtimes, and the rules besides that do not apply to them. */
const RIGHT: readonly (readonly [does: string, run: typeof runPython, notApplicable: readonly string[]])[] = [
  ['is the example in Python', runPython, []],
  ...(GOCACHE === null ? [] : [['is the example in Go', runGo, []] as const]),
  ['is our own library', runConnect, ['RT-ANCESTORS', 'RT-DISPLAY', 'RT-CANCEL', 'RT-MIGRATE']],
  ...Object.entries(VARIANTS).map(
    ([does, Variant]) => [does, (streams: DriverStreams) => runDriver({ ...streams, Variant }), []] as const,
  ),
];

/** With `ALL_SCENARIOS=1`, as in CI, each right runtime plays all scenarios, else a third, together all. */
const isWhole = process.env['ALL_SCENARIOS'] === '1';

const scenariosFor = (place: number) => SCENARIOS.filter((_, index) => isWhole || index % 3 === place % 3);

describe('a runtime that', () => {
  let [ofSample, ...ofRight]: readonly (readonly Check[])[] = [];
  beforeAll(async () => {
    python = await startCommand({ command: 'python3 -B test/peers/drivers/python.py' });
    goDriver = await temporaryFolder();
    if (GOCACHE !== null)
      await promisify(execFile)('go', ['build', '-o', goDriver.file('driver'), '.'], {
        cwd: 'fixtures/runtimes/go',
      });
    [ofSample, ...ofRight] = await checksOfRuntimes([
      { open: driverHere(runSample) },
      ...RIGHT.map(([, run], place) => ({ open: driverHere(run), scenarios: scenariosFor(place) })),
    ]);
  }, 600_000);
  afterAll(async () => {
    await python.stop();
    await goDriver[Symbol.asyncDispose]();
  });

  test.each(RIGHT.map((each, index) => [...each, index] as const))(
    '%s passes its scenarios',
    (_, __, notApplicable, index) => {
      const checks = ofRight[index] ?? [];
      expect(verdicts(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
      const skipped = verdicts(checks, 'not-applicable').map(({ id }) => id);
      if (isWhole) expect(skipped.toSorted()).toEqual([...NEVER, ...notApplicable].toSorted());
    },
  );

  test('is the sample of the specification does what its page says, and no more', () => {
    const idsOf = (...statuses: Parameters<typeof verdicts>[1][]) =>
      verdicts(ofSample ?? [], ...statuses).map(({ id }) => id);
    expect(idsOf('fail', 'could-not-run')).toEqual([
      'RT-VALIDATE',
      'RT-MATCH',
      'RT-TEXT',
      'RT-SUB',
      'RT-NOTIFY',
    ]);
    expect(idsOf('warn')).toEqual(['RT-OP', 'RT-ARGS', 'RT-NON200', 'RT-RETRY', 'RT-DUP', 'RT-TOOLSET']);
  });
});
