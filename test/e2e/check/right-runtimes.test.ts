import { describe, expect, test } from 'vitest';
import { runDriver } from '../../peers/drivers/runtime.mjs';
import { VARIANTS } from '../../peers/drivers/variants.mjs';
import { checksOfRuntime, driverHere, verdicts } from '../support/drivers.js';

describe.concurrent('a right runtime that', { timeout: 60_000 }, () => {
  test.each(Object.entries(VARIANTS))('%s passes all scenarios', async (_, change) => {
    const checks = await checksOfRuntime(driverHere(streams => runDriver({ ...streams, change })));
    expect(verdicts(checks, 'fail', 'warn', 'could-not-run')).toEqual([]);
  });
});
