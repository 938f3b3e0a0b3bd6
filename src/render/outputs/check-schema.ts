import * as z from 'zod/mini';
import type { Conformance } from '../../check/conformance.js';
import type { WireRecord } from '../check-rows.js';
import type { ColourLevel } from '../terminal/colour-level.js';

const count = z.int().check(z.nonnegative());
const ms = z.number().check(z.nonnegative());
const seqs = z.array(count).check(z.describe('By their seq in the transcript, the events that prove it'));

const excerpt = z.object({
  place: z
    .nullable(z.string())
    .check(z.describe('The member that the finding is about; null for the body looked over')),
  text: z.string().check(z.describe('Shortened, secrets removed')),
  point: z
    .optional(z.tuple([count, count]))
    .check(z.describe('Range of the finding in the text: start and end (exclusive)')),
});

const leg = z.object({
  event: count.check(z.describe('seq of the request')),
  method: z.string(),
  url: z.string(),
  operation: z
    .nullable(z.string())
    .check(z.describe('What was called; null where the message says it itself')),
  end: z.nullable(z.string()).check(z.describe('The status, or how it broke; null where nothing came')),
  endedBy: z
    .nullable(z.string())
    .check(z.describe('The probe of the check that let a callback end so; null where it was taken')),
  ms: z.nullable(ms).check(z.describe('Time until then')),
  request: z.array(excerpt),
  response: z.array(excerpt),
});

const calls = z
  .optional(
    z.array(
      z.object({
        operation: z.nullable(z.string()),
        id: z.nullable(z.string()),
        line: z
          .optional(z.int().check(z.positive()))
          .check(
            z.describe('Of the transcript that is checked, or that --save wrote: the line of its invocation'),
          ),
      }),
    ),
  )
  .check(z.describe('The calls that it is about, if it did not pass: null for what an invocation has not'));

const expectation = { reason: z.string(), place: z.string().check(z.describe('file:line')) };

const check = z.object({
  id: z.string(),
  side: z.enum(['tool', 'runtime']),
  level: z.enum(['MUST', 'SHOULD', 'none']),
  status: z.enum(['pass', 'fail', 'warn', 'not-applicable', 'could-not-run']),
  standing: z
    .enum(['passed', 'failed', 'stale', 'could-not-run', 'warned', 'expected', 'not-applicable'])
    .check(z.describe('How it counts: --strict and --expected-failures are in it')),
  statement: z.string().check(z.describe('What the rule asks')),
  reason: z.string(),
  isRemarkable: z.optional(z.literal(true)).check(z.describe('It passes, but its reason is worth reading')),
  expected: z.optional(z.string()),
  actual: z.optional(z.string()),
  advice: z.optional(z.string()).check(z.describe('How to fix a violation')),
  masks: z.optional(z.array(z.string())).check(z.describe('Rules that may fail for the same reason')),
  expectedFailure: z.optional(z.object(expectation)),
  events: seqs,
  calls,
  evidence: z.optional(z.array(leg)).check(z.describe('What was on the wire, if it did not pass')),
});

const aCase = z.object({
  place: expectation.place,
  operation: z.string(),
  status: z.enum(['pass', 'fail', 'could-not-run']),
  reason: z.string(),
  events: seqs,
  calls,
});

const probe = z.object({
  id: z.string(),
  calls: count,
  ms: z.nullable(ms).check(z.describe('Null for what makes no calls')),
});

/** What `--reporter json` of `check` writes. */
const checkReportSchema = z.object({
  program: z.string(),
  target: z.string().check(z.describe('The URL or the file')),
  verdict: z.enum(['passed', 'failed', 'incomplete']),
  durationMs: ms.check(z.describe('Until the last event')),
  checks: z.array(check).check(z.describe('A row for each rule')),
  cases: z.array(aCase),
  gaps: z
    .array(z.object({ place: expectation.place, reason: z.string() }))
    .check(z.describe('Parts missing from a transcript; violations may be missed')),
  idleExpectedFailures: z
    .array(z.object({ id: z.string(), ...expectation, why: z.string() }))
    .check(z.describe('Entries of --expected-failures that match no failure')),
  probes: z.array(probe).check(z.describe('What was tried; empty for what no check has made')),
  notCalled: z
    .array(z.string())
    .check(z.describe('Operations that the check was offered and has not called')),
  warnings: z.array(z.string()),
  summary: z.object({
    pass: count,
    fail: count,
    warn: count,
    'not-applicable': count,
    'could-not-run': count,
  }),
});

/** The JSON Schema of what `check --reporter json` writes. Published as fixtures/check-report.schema.json. */
export function checkReportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli check',
    description: 'What check --reporter json writes: one object, a row for each rule and each case',
    ...z.toJSONSchema(checkReportSchema),
  };
}

/** What a report is about. Nothing of it is secret; texts in it are foreign, and not yet made visible. */
export interface CheckStory {
  /** The URL, or the file, that was judged. */
  readonly target: string;
  readonly program: string;
  readonly run: Conformance;
  /** What was worth a word while it happened. */
  readonly warnings: readonly string[];
  readonly record: WireRecord;
  /** How to see the messages whole, of which a report shows a part: what to do, as words. */
  readonly whole: string;
}

/** For whom a report is written. */
export interface CheckLook {
  readonly level: ColourLevel;
  /** Cells of a row; without it, lines are as long as they are: a file or a pipe has no width. */
  readonly width?: number;
  /** Nothing about what is fine. */
  readonly isQuiet: boolean;
}

/** Writes a report whole; it ends with a line feed. */
export type CheckFormat = (story: CheckStory, look: CheckLook) => string;
