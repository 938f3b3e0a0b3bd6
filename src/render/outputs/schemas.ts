import * as z from 'zod/mini';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { invocationSchema } from '../../protocol/invocation.js';
import { judgedOutcomeSchema } from '../../protocol/outcome.js';

const count = z.int().check(z.nonnegative());

const display = z.object({
  chosen: z
    .nullable(count)
    .check(z.describe('Index of the segment that the human sees; null if it is the text')),
  type: z.string(),
  reason: z.string(),
  skipped: z.array(z.object({ index: count, type: z.string(), reason: z.string() })),
});

const callback = z.object({
  type: z.nullable(z.enum(CALLBACK_TYPES)),
  ms: z.number().check(z.describe('Time since the invocation was sent')),
  verdict: z.enum(['settles', 'holds', 'noted', 'ignored', 'duplicate', 'late', 'discarded', 'rejected']),
  status: z
    .nullable(z.int())
    .check(
      z.describe(
        'HTTP status of the answer to this callback; in a recording, the answer of the recorded runtime, or null without one',
      ),
    ),
  ourStatus: z
    .optional(z.int())
    .check(
      z.describe('The status that protocol-cli would have sent, if a recorded runtime sent another one'),
    ),
  reason: z.optional(z.string()),
  bytes: count,
  text: z.optional(z.string()).check(z.describe('Text of a subscription_event')),
  auth_url: z.optional(z.string()).check(z.describe('URL of an oauth callback, without its query')),
});

/** A request to the callback URL. */
export type CallbackReport = z.infer<typeof callback>;

const syntheticCall = z.object({
  name: z.literal('receive_event'),
  arguments: z.object({ tool_call_id: z.string() }),
  text: z.string(),
  placement: z.enum(['thread', 'child-thread']),
  thread_ancestors: z
    .array(z.string())
    .check(z.describe('Ancestors of the thread that receives it, root first')),
});

const subscription = z.object({
  events: count.check(z.describe('Number of accepted events')),
  ended: z.nullable(z.enum(['final', 'cancel', 'close'])),
  calls: z
    .array(syntheticCall)
    .check(z.describe('The calls that a runtime adds to the conversation for them')),
});

const view = z.object({ type: z.string(), content: z.record(z.string(), z.unknown()), updates: count });

const choice = z.object({
  prompt: z.string(),
  selected: z.nullable(count).check(z.describe('Index of the selected choice; null if none was selected')),
  by: z.nullable(z.enum(['person', 'flag', 'policy'])),
});

const reportedInvocation = z.extend(invocationSchema, {
  arguments: z.record(z.string(), z.unknown()),
  callback_url: z.optional(invocationSchema.shape.callback_url),
});

const call = {
  dialect: z.optional(z.literal('mcp')).check(z.describe('The protocol of the call, if it is not RAP')),
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
    .check(z.describe('The unchanged tool_result; over MCP, the CallToolResult')),
  llm: z.nullable(z.object({ text: z.string() })).check(z.describe('The text that the LLM gets')),
  display: z.nullable(display).check(z.describe('The segment or text that the human sees')),
  timing: z.object({ ackMs: z.nullable(z.number()), resultMs: z.nullable(z.number()) }),
  callbacks: z.array(callback).check(z.describe('All requests to the callback URL, oldest first')),
  forgotten: count.check(z.describe('Number of callbacks that are not listed because there were too many')),
  subscription: z.nullable(subscription),
  views: z.array(view).check(z.describe('The views of the thread at the end')),
  choices: z.array(choice).check(z.describe('The questions of the tool, and the answers')),
};

/** The members at the end of every report. */
const problems = {
  warnings: z.array(
    z.object({
      id: z.optional(z.string()),
      message: z.string(),
      details: z.optional(z.array(z.string())),
    }),
  ),
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
export const repeatsSchema = z.object({
  calls: z.array(reportSchema),
  summary: z.object({
    calls: count,
    outcomes: z.partialRecord(
      z.enum(['success', 'error', 'canceled', 'timeout', 'denied', 'unknown', 'pending']),
      count,
    ),
    acknowledged: spread.check(z.describe('Time in ms')),
    results: spread.check(z.describe('Time in ms')),
    crossed: count.check(z.describe('Callbacks that came to the URL of another call')),
    repeated: count.check(z.describe('Calls that got a second result while silent calls ran')),
    silent: count.check(z.describe('Calls that got nothing while repeated calls ran')),
  }),
  ...problems,
});

export type Report = z.infer<typeof reportSchema>;

export type ReportedWarning = Report['warnings'][number];

/** The part of the report about a call that was made. */
export type CallReport = z.infer<z.ZodMiniObject<typeof call>>;

reportSchema.register(z.globalRegistry, { id: 'report' });

repeatsSchema.register(z.globalRegistry, { id: 'repeats' });

const sessionCall = z.object({
  key: z.string().check(z.describe('Identifies the call: its id, or #1, #2 … if the id is null')),
  tool_name: z.string(),
  args: z.optional(z.unknown()),
  id: z.nullable(z.string()),
  round: count.check(z.describe('The round of the session that requested it, from 0')),
  outcome: z.nullable(judgedOutcomeSchema).check(z.describe('Null if it was not answered')),
  body: z.optional(z.unknown()).check(z.describe('The posted tool_result or error_event')),
  posted: z
    .nullable(
      z.object({
        state: z.enum(['answered', 'posting', 'taken', 'refused', 'unwanted', 'gone']),
        status: z.nullable(z.int()).check(z.describe('HTTP status of the last post; null without an answer')),
        attempts: count,
      }),
    )
    .check(z.describe('The delivery of the answer; null if it was never posted')),
  ms: z.nullable(z.number()).check(z.describe('Time from the request to the answer')),
});

/** A call of an agent's session. */
export type SessionCallReport = z.infer<typeof sessionCall>;

const sessionSummary = z.object({
  id: z.string(),
  url: z.string(),
  status: z.nullable(z.string()).check(z.describe('Null if the platform did not send a status')),
  rounds: count.check(z.describe('Number of times that the session waited for calls')),
  answer: z.optional(z.unknown()).check(z.describe('The final answer of the agent')),
  error: z.nullable(z.string()),
});

export type SessionSummary = z.infer<typeof sessionSummary>;

const sessionFields = {
  session: sessionSummary,
  calls: z.array(sessionCall).check(z.describe('Oldest first')),
  forgotten: count.check(z.describe('Number of calls that are not listed because there were too many')),
};

/** The output of `session answer -o json`; the members of a session are missing if none was requested. */
export const sessionReportSchema = z.object({ ...z.partial(z.object(sessionFields)).shape, ...problems });

/** The part of the report about a session that was requested. */
export type SessionReport = z.infer<z.ZodMiniObject<typeof sessionFields & typeof problems>>;
