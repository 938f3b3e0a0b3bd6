import * as z from 'zod/mini';
import { judgedOutcomeSchema, problems } from './report-schema.js';

const count = z.int().check(z.nonnegative());

const call = z.object({
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
  calls: z.array(call).check(z.describe('Oldest first')),
  forgotten: count.check(z.describe('How many calls are not listed, since there were too many')),
};

/** What `-o json` of `session answer` prints; the members of a session are missing where it was never asked for. */
export const sessionReportSchema = z.object({ ...z.partial(z.object(told)).shape, ...problems });

/** What it says of a session that was asked for. */
export type SessionReport = z.infer<z.ZodMiniObject<typeof told & typeof problems>>;

/** The JSON Schema of what `session answer -o json` prints. Published as fixtures/session-report.schema.json. */
export function sessionReportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli session answer',
    description:
      'What session answer -o json prints: one object, where it failed as far as it got, with error',
    ...z.toJSONSchema(sessionReportSchema, { unrepresentable: 'any' }),
  };
}
