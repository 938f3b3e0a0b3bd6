import { describe, expect, test } from 'vitest';
import { driverOf, type OpenDriver } from '../../../src/check/runtime/driver.js';
import { runConnect } from '../../peers/drivers/connect.mjs';
import { runDriver } from '../../peers/drivers/runtime.mjs';
import { runSample } from '../../peers/drivers/sample.mjs';
import { VARIANTS } from '../../peers/drivers/variants.mjs';
import { checksOfRuntime, driverHere, verdicts } from '../support/drivers.js';

/** No scenario of a right runtime shows these. */
const NEVER = ['RT-SANITIZE', 'RT-AUDIT', 'RT-TIMEOUT'];

/** Runtimes, and the rules besides that do not apply to them. */
const RIGHT: readonly (readonly [does: string, open: OpenDriver, notApplicable: readonly string[]])[] = [
  ['is the example in Python', driverOf('python3 fixtures/runtimes/python/driver.py'), []],
  ['is our own library', driverHere(runConnect), ['RT-DISPLAY', 'RT-CANCEL', 'RT-MIGRATE']],
  ...Object.entries(VARIANTS).map(
    ([does, Variant]) => [does, driverHere(streams => runDriver({ ...streams, Variant })), []] as const,
  ),
];

describe.concurrent('a runtime that', { timeout: 60_000 }, () => {
  test.each(RIGHT)('%s passes all scenarios', async (_, open, notApplicable) => {
    const checks = await checksOfRuntime(open);
    expect(verdicts(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
    const skipped = verdicts(checks, 'not-applicable').map(({ id }) => id);
    expect(skipped.toSorted()).toEqual([...NEVER, ...notApplicable].toSorted());
  });

  test('is the sample of the specification does what its page says, and no more', async () => {
    const checks = await checksOfRuntime(driverHere(runSample));
    const idsOf = (...statuses: Parameters<typeof verdicts>[1][]) =>
      verdicts(checks, ...statuses).map(({ id }) => id);
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
