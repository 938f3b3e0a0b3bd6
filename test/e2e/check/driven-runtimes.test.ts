import { describe, expect, test } from 'vitest';
import { commandDriver, type OpenDriver } from '../../../src/check/runtime/driver.js';
import { runConnect } from '../../peers/drivers/connect.mjs';
import { runSample } from '../../peers/drivers/sample.mjs';
import { checksOfRuntime, driverHere, verdicts } from '../support/drivers.js';

/** Correct runtimes, and the rules that do not apply to them: what nobody can see, and what they cannot do. */
const RIGHT: readonly (readonly [name: string, open: OpenDriver, notApplicable: readonly string[]])[] = [
  [
    'the example in Python',
    commandDriver('python3 fixtures/runtimes/python/adapter.py'),
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
