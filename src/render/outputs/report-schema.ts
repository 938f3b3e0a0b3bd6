import * as z from 'zod/mini';
import { CALLBACK_TYPES } from '../../protocol/callbacks.js';
import { outcomeSchema } from '../../protocol/outcome.js';
import { invocationSchema } from '../../protocol/read-invocation.js';

const count = z.int().check(z.nonnegative());
const basis = { basis: z.enum(['declared', 'convention', 'ours', 'assumed']) };
const [success, error, canceled, timeout, denied, unknown] = outcomeSchema._zod.def.options;

export const judgedOutcomeSchema = z.discriminatedUnion('type', [
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

/** What every report has at its end. */
export const problems = {
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

/** What `-o json` of `invoke` prints, the contract of "Output"; the members of a call are missing where none was made. */
export const reportSchema = z.object({ ...z.partial(z.object(call)).shape, ...problems });

const spread = z.nullable(z.object({ min: z.number(), median: z.number(), p99: z.number() }));

/** What it prints of many calls (`--repeat`). */
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
/** What it says of a call that was made. */
export type CallReport = z.infer<z.ZodMiniObject<typeof call>>;
export type RepeatsReport = z.infer<typeof repeatsSchema>;

reportSchema.register(z.globalRegistry, { id: 'report' });
repeatsSchema.register(z.globalRegistry, { id: 'repeats' });

/** The JSON Schema of what `invoke -o json` prints. Published as fixtures/report.schema.json. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli invoke',
    description:
      'What invoke -o json prints: one object, where the call failed as far as it got, with error; of --repeat all of them',
    ...z.toJSONSchema(z.union([reportSchema, repeatsSchema]), { unrepresentable: 'any' }),
  };
}
