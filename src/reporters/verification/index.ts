import type { VerificationReport } from '../../exchange/verification/report.js';
import { jsonVerification } from './json.js';
import { junitVerification } from './junit.js';

/** The formats of `--report`. A new one is one file and one line here. */
export const VERIFICATION_FORMATS = {
  junit: junitVerification,
  json: jsonVerification,
} as const satisfies Readonly<Record<string, (report: VerificationReport) => string>>;

export type VerificationFormat = keyof typeof VERIFICATION_FORMATS;
