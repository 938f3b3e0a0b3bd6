import { checksOf } from '../../../src/check/judge.js';
import type { Check } from '../../../src/check/report.js';
import { LATE_UNDER_LOAD } from '../../peers/late-under-load.mjs';
import { type ProbeOptions, probing } from '../../probes/probing.js';

/** What a check makes of a tool server, a row for each rule. */
export async function checking(url: string, options: Partial<ProbeOptions> = {}): Promise<readonly Check[]> {
  const { evidence } = await probing(url, options);
  return checksOf('tool', [evidence]);
}

/** The rows that do not pass. Ignores acknowledgements that were late only under load, which depends on this machine. */
export function findingsIn(checks: readonly Check[]): readonly Check[] {
  return checks.filter(
    ({ status, reason }) => !['pass', 'not-applicable'].includes(status) && !LATE_UNDER_LOAD.test(reason),
  );
}
