import type { Check } from '../../../src/check/judge.js';
import type { ProbeOptions } from '../../../src/check/probes/run-probes.js';
import { checksOf } from '../../../src/check/report.js';
import { probing } from '../../probes/probing.js';

/** What a check makes of a tool server, a row for each rule. */
export async function checking(url: string, options: Partial<ProbeOptions> = {}): Promise<readonly Check[]> {
  const { evidence } = await probing(url, options);
  return checksOf('tool', [evidence]);
}

/** The rows that are not as they should be. That this machine was once too busy for any answer is no fault of a tool. */
export function findingsIn(checks: readonly Check[]): readonly Check[] {
  return checks.filter(
    ({ status, reason }) => !['pass', 'not-applicable'].includes(status) && !ONCE_BUSY.test(reason),
  );
}

const ONCE_BUSY =
  /^(?:(?:no answer within \S+|the 200 (?:took \S+|came after the result) among many calls), and (?:in time|before it) when (?:the same was|others were) called [^;]*(?:; and \d+ more)?(?:; |$))+$/;
