import type { RequirementId, Side } from '../../protocol/requirements.js';
import type { HeaderOptions } from '../headers.js';
import type { TargetOptions } from '../target.js';
import type { ReportRequest } from './reporter-option.js';

/** The options of `check`, as commander hands them over. */
export interface CheckFlags extends Omit<TargetOptions, 'endpoint'>, HeaderOptions {
  readonly side?: Side;
  readonly list?: boolean;
  readonly spec?: readonly RequirementId[];
  readonly only?: readonly RequirementId[];
  readonly skip?: readonly RequirementId[];
  readonly operation?: readonly string[];
  /** A file. */
  readonly cases?: string;
  /** Milliseconds. */
  readonly probeTimeout: number;
  readonly strict?: boolean;
  /** A file. */
  readonly expectedFailures?: string;
  readonly reporter?: readonly ReportRequest[];
  readonly save?: string;
  readonly callbackHost: string;
  readonly callbackPort: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  readonly quiet?: boolean;
  readonly color: boolean;
  /** The options that somebody gave, and are not defaults: `--save`. */
  readonly given: readonly string[];
}
