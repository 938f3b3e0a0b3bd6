import * as z from 'zod/mini';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { invocationSchema } from '../../protocol/invocation.js';
import { outcomeSchema } from '../../protocol/outcome.js';

const count = z.int().check(z.nonnegative());

const basis = { basis: z.enum(['declared', 'convention', 'ours', 'assumed']) };

const [success, error, canceled, timeout, denied, unknown] = outcomeSchema._zod.def.options;

const judgedOutcomeSchema = z.discriminatedUnion('type', [
  z.extend(success, basis),
  z.extend(error, basis),
  z.extend(canceled, basis),
  z.extend(timeout, basis),
  z.extend(denied, basis),
  z.extend(unknown, basis),
]);

const display = z.object({
  chosen: z.nullable(count).check(z.describe('Index of the segment that the human sees; null for the text')),
  type: z.string(),
  reason: z.string(),
  skipped: z.array(z.object({ index: count, type: z.string(), reason: z.string() })),
});

const callback = z.object({
  type: z.nullable(z.enum(CALLBACK_TYPES)),
  ms: z.number().check(z.describe('Since the invocation was sent')),
  verdict: z.enum(['settles', 'holds', 'noted', 'ignored', 'duplicate', 'late', 'discarded', 'rejected']),
  status: z
    .nullable(z.int())
    .check(z.describe('The answer; of a recording, that of the runtime, null where there was none')),
  ourStatus: z
    .optional(z.int())
    .check(z.describe('What this program would have answered, where a recorded runtime answered otherwise')),
  reason: z.optional(z.string()),
  bytes: count,
  text: z.optional(z.string()).check(z.describe('Of a subscription_event')),
  auth_url: z.optional(z.string()).check(z.describe('Of an oauth; without its query')),
});

const syntheticCall = z.object({
  name: z.literal('receive_event'),
  arguments: z.object({ tool_call_id: z.string() }),
  text: z.string(),
  placement: z.enum(['thread', 'child-thread']),
  thread_ancestors: z.array(z.string()).check(z.describe('Of the thread it goes to, root first')),
});

const subscription = z.object({
  events: count.check(z.describe('How many counted')),
  ended: z.nullable(z.enum(['final', 'cancel', 'close'])),
  calls: z.array(syntheticCall).check(z.describe('What a runtime puts into the conversation for them')),
});

const view = z.object({ type: z.string(), content: z.record(z.string(), z.unknown()), updates: count });

const choice = z.object({
  prompt: z.string(),
  selected: z.nullable(count).check(z.describe('Index of what was picked; null where nothing was')),
  by: z.nullable(z.enum(['person', 'flag', 'policy'])),
});

const reportedInvocation = z.extend(invocationSchema, {
  callback_url: z.optional(invocationSchema.shape.callback_url),
});

const call = {
  dialect: z
    .optional(z.literal('mcp'))
    .check(z.describe('The wire that the call went over, where it is not RAP')),
  invocation: reportedInvocation,
  endpoint: z.string(),
  acknowledgement: z.nullable(z.object({ status: z.int(), ms: z.number() })),
  outcome: z.nullable(judgedOutcomeSchema),
  result: z
    .nullable(
      z.union([
        z.looseObject({ type: z.literal('tool_result'), group_id: z.string(), id: z.string() }),
        z.looseObject({ content: z.optional(z.array(z.looseObject({ type: z.string() }))) }),
      ]),
    )
    .check(z.describe('The tool_result whole, as it came; over MCP the CallToolResult')),
  llm: z.nullable(z.object({ text: z.string() })).check(z.describe('What the LLM gets')),
  display: z.nullable(display).check(z.describe('What the human sees')),
  timing: z.object({ ackMs: z.nullable(z.number()), resultMs: z.nullable(z.number()) }),
  callbacks: z.array(callback).check(z.describe('Everything that came to the callback URL, oldest first')),
  forgotten: count.check(z.describe('How many callbacks are not listed, since there were too many')),
  subscription: z.nullable(subscription),
  views: z.array(view).check(z.describe("The thread's views as they are at the end")),
  choices: z.array(choice).check(z.describe('What the tool asked, and the answers')),
};

/** The members at the end of every report. */
const problems = {
  warnings: z.array(z.object({ id: z.optional(z.string()), message: z.string() })),
  error: z.optional(
    z.object({
      code: z.string(),
      message: z.string(),
      hint: z.optional(z.string()),
      faults: z.optional(z.array(z.string())),
    }),
  ),
};

/** The output of `invoke -o json`; the members of a call are missing if none was made. */
export const reportSchema = z.object({ ...z.partial(z.object(call)).shape, ...problems });

const spread = z.nullable(z.object({ min: z.number(), median: z.number(), p99: z.number() }));

/** The output of `invoke --repeat -o json`. */
const repeatsSchema = z.object({
  calls: z.array(reportSchema),
  summary: z.object({
    calls: count,
    outcomes: z.partialRecord(
      z.enum(['success', 'error', 'canceled', 'timeout', 'denied', 'unknown', 'pending']),
      count,
    ),
    acknowledged: spread.check(z.describe('After how many ms')),
    results: spread.check(z.describe('After how many ms')),
    crossed: count.check(z.describe('Callbacks that named a different call than their URL belongs to')),
  }),
  ...problems,
});

export type Report = z.infer<typeof reportSchema>;

/** The part of the report about a call that was made. */
export type CallReport = z.infer<z.ZodMiniObject<typeof call>>;

export type RepeatsReport = z.infer<typeof repeatsSchema>;

reportSchema.register(z.globalRegistry, { id: 'report' });

repeatsSchema.register(z.globalRegistry, { id: 'repeats' });

/** The JSON Schema of `invoke -o json`. Published as fixtures/report.schema.json. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli invoke',
    description:
      'What invoke -o json prints: one object, where the call failed as far as it got, with error; of --repeat all of them',
    ...z.toJSONSchema(z.union([reportSchema, repeatsSchema]), { unrepresentable: 'any' }),
  };
}

const sessionCall = z.object({
  key: z.string().check(z.describe('Names the call: its id, or #1, #2 … where that is null')),
  tool_name: z.string(),
  args: z.optional(z.unknown()),
  id: z.nullable(z.string()),
  round: count.check(z.describe('Which wait of the session asked for it, from 0')),
  outcome: z.nullable(judgedOutcomeSchema).check(z.describe('Null where it was not answered')),
  body: z.optional(z.unknown()).check(z.describe('The tool_result or error_event, as it was posted')),
  posted: z
    .nullable(
      z.object({
        state: z.enum(['answered', 'posting', 'taken', 'refused', 'unwanted', 'gone']),
        status: z.nullable(z.int()).check(z.describe('Of the last post; null where no answer came')),
        attempts: count,
      }),
    )
    .check(z.describe('What became of the answer; null where it was never posted')),
  ms: z.nullable(z.number()).check(z.describe('From the question to the answer')),
});

const told = {
  session: z.object({
    id: z.string(),
    url: z.string(),
    status: z.nullable(z.string()).check(z.describe('Null where the platform never said')),
    rounds: count.check(z.describe('How often it waited for calls')),
    answer: z.optional(z.unknown()).check(z.describe('What the agent said in the end')),
    error: z.nullable(z.string()),
  }),
  calls: z.array(sessionCall).check(z.describe('Oldest first')),
  forgotten: count.check(z.describe('How many calls are not listed, since there were too many')),
};

/** The output of `session answer -o json`; the members of a session are missing if none was requested. */
export const sessionReportSchema = z.object({ ...z.partial(z.object(told)).shape, ...problems });

/** The part of the report about a session that was requested. */
export type SessionReport = z.infer<z.ZodMiniObject<typeof told & typeof problems>>;

/** The JSON Schema of `session answer -o json`. Published as fixtures/session-report.schema.json. */
export function sessionReportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli session answer',
    description:
      'What session answer -o json prints: one object, where it failed as far as it got, with error',
    ...z.toJSONSchema(sessionReportSchema, { unrepresentable: 'any' }),
  };
}

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

/** The output of `check --reporter json`. */
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

/** The JSON Schema of `check --reporter json`. Published as fixtures/check-report.schema.json. */
export function checkReportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli check',
    description: 'What check --reporter json writes: one object, a row for each rule and each case',
    ...z.toJSONSchema(checkReportSchema),
  };
}
