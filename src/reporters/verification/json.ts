import type { VerificationReport } from '../../exchange/verification/report.js';
import { safeJson } from '../../text/json-safe.js';

/** The report itself, as one object. */
export function jsonVerification(report: VerificationReport): string {
  return `${safeJson(report, 2)}\n`;
}
