import { describe, expect, test } from 'vitest';
import { commandDriver, type OpenDriver } from '../../../src/check/runtime/driver.js';
import { SCENARIOS } from '../../../src/check/runtime/scenarios.js';
import { runConnect } from '../../peers/drivers/connect.mjs';
import { runSample } from '../../peers/drivers/sample.mjs';
import { checksOfRuntime, driverHere, verdicts } from '../support/drivers.js';
import { runHere } from '../support/in-process.js';

/** Correct runtimes, and the rules that do not apply to them. */
const RIGHT: readonly (readonly [name: string, open: OpenDriver, notApplicable: readonly string[]])[] = [
  [
    'the example in Python',
    commandDriver('python3 fixtures/runtimes/python/driver.py'),
    ['RT-SANITIZE', 'RT-AUDIT', 'RT-TIMEOUT'],
  ],
  [
    'our own library',
    driverHere(runConnect),
    ['RT-SANITIZE', 'RT-DISPLAY', 'RT-CANCEL', 'RT-MIGRATE', 'RT-AUDIT', 'RT-TIMEOUT'],
  ],
];

describe.concurrent('a driven runtime', () => {
  test.each(RIGHT)('%s passes all scenarios', async (_, open, notApplicable) => {
    const checks = await checksOfRuntime(open);
    expect(verdicts(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
    expect(verdicts(checks, 'not-applicable').map(({ id }) => id)).toEqual(notApplicable);
  });

  test('the sample of the specification does what its page says, and no more', async () => {
    const checks = await checksOfRuntime(driverHere(runSample));
    expect(verdicts(checks, 'fail', 'could-not-run').map(({ id }) => id)).toEqual([
      'RT-VALIDATE',
      'RT-MATCH',
      'RT-TEXT',
      'RT-SUB',
      'RT-NOTIFY',
    ]);
    expect(verdicts(checks, 'warn').map(({ id }) => id)).toEqual([
      'RT-OP',
      'RT-ARGS',
      'RT-NON200',
      'RT-RETRY',
      'RT-DUP',
      'RT-TOOLSET',
    ]);
  });
});

/** Each meets the first scenario, and a part of the others. */
const COMMANDS: readonly (readonly [command: string, status: number])[] = [
  ['node fixtures/runtimes/node/driver.mjs', 0],
  ['python3 fixtures/runtimes/python/driver.py', 0],
  ['node test/peers/drivers/connect.mjs', 0],
  ['node test/peers/drivers/sample.mjs', 1],
];

const PARTS = 2 * COMMANDS.length;

test.each(COMMANDS.map(([command, status], place) => ({ command, status, place })))(
  'check --runtime "$command" ends with $status',
  async ({ command, status, place }) => {
    const part = SCENARIOS.filter((_, index) => index === 0 || index % PARTS === place);
    const selected = part.flatMap(({ name }) => ['--scenario', name]);
    const { stdout, ...ended } = await runHere(['check', '--runtime', command, ...selected]);
    expect(ended.status, stdout).toBe(status);
  },
);
