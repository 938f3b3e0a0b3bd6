import type { Rate } from '../../mock/responder.js';
import type { ServerFlags, ServerOutput } from '../options.js';
import type { ReportRequest } from '../reporter-option.js';

/** The options of `mock-tool`. */
export interface MockToolFlags extends ServerFlags {
  readonly mcp?: 'stdio' | 'http';
  /** Options set on the command line: `--save`. */
  readonly given?: readonly string[];
  readonly handlers?: string;
  readonly seed?: string;
  readonly speed?: number;
  /** File for `--export`; - is stdout. */
  readonly export?: string;
  readonly demo?: true;
  readonly watch?: true;
  readonly allowRepeats?: true;
  readonly rateLimit?: Rate;
  readonly allowOrigin?: readonly string[];
  readonly allowCallback?: readonly string[];
  readonly maxBody: number;
  readonly retries: number;
  readonly maxPending: number;
  readonly drain: number;
  readonly keep: number;
  readonly save?: string;
  readonly verify?: true;
  readonly reporter?: readonly ReportRequest[];
  /** The old name of `--reporter`. */
  readonly report?: readonly ReportRequest[];
  readonly output?: ServerOutput;
}
