import * as z from 'zod';

/** Which tool server. */
const TARGET_SHAPE = {
  url: z.string().optional().describe('Base URL of the tool server, such as http://127.0.0.1:3001 or :3001.'),
  command: z
    .string()
    .optional()
    .describe(
      'Command that starts the tool server, for this call only; it prints {"port":N}, or serves url. Only if the user started this MCP server with --allow-commands.',
    ),
  demo: z
    .boolean()
    .optional()
    .describe('Uses the tool bundled with protocol-cli, in place of url and command.'),
  bearer: z
    .string()
    .optional()
    .describe(
      'Bearer token, sent to the origin of url only. env:NAME stands for a variable that the user allowed with --allow-env.',
    ),
  headers: z
    .array(z.string())
    .optional()
    .describe('Headers as "Name: value", sent to the origin of url only; "Name: env:NAME" as for bearer.'),
};

const DURATION = z.string();

const ALLOW_DESTRUCTIVE =
  'Must be true to call an operation that the tool marks destructive. Ask the user before.';

export const toolsetArguments = z.strictObject({
  ...TARGET_SHAPE,
  operation: z.string().optional().describe('Shows only this operation, with all parts of its arguments.'),
});

export const invokeArguments = z.strictObject({
  ...TARGET_SHAPE,
  operation: z.string().describe('Operation to call; toolset lists them.'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the operation.'),
  validate: z
    .boolean()
    .default(true)
    .describe('false sends arguments that do not match the schema, to see how the tool refuses them.'),
  choose: z
    .array(z.string())
    .optional()
    .describe("Answers to the tool's questions, in order: an index from 0, a label, or default."),
  timeout: DURATION.default('30s').describe('Time to wait for the result, such as 500ms, 10s, 2m.'),
  linger: DURATION.optional().describe(
    'Time to stay after the result, to see late messages, or the events of a subscription.',
  ),
  allow_destructive: z.boolean().default(false).describe(ALLOW_DESTRUCTIVE),
});

export const checkArguments = z.strictObject({
  ...TARGET_SHAPE,
  operations: z
    .array(z.string())
    .optional()
    .describe('Operations to call although they are not marked readOnly. They are called repeatedly.'),
  cases: z
    .string()
    .optional()
    .describe('File of test cases (YAML or JSON) in the working directory or below.'),
  only: z.array(z.string()).optional().describe('Ids of the only rules to check, such as TOOL-ACK.'),
  skip: z.array(z.string()).optional().describe('Ids of rules to skip.'),
  strict: z.boolean().default(false).describe('Whether warnings are failures.'),
  probe_timeout: DURATION.optional().describe('Time to wait for each expected message (default: 5s).'),
  allow_destructive: z.boolean().default(false).describe(ALLOW_DESTRUCTIVE),
});

export const renderArguments = z.strictObject({
  path: z.string().optional().describe('File in the working directory or below. Give path or text.'),
  text: z.string().optional().describe('What to show, such as the JSON of a result, or a diff.'),
  call: z.string().optional().describe('Shows one call of a transcript: its number from 1, or its id.'),
  failed: z
    .boolean()
    .default(false)
    .describe('Shows only calls of a transcript without a successful result.'),
  supports: z
    .array(z.enum(['diff', 'text', 'image']))
    .optional()
    .describe('Emulates a client that draws only these segments.'),
});

export type ToolsetArguments = z.infer<typeof toolsetArguments>;

export type InvokeArguments = z.infer<typeof invokeArguments>;

export type CheckArguments = z.infer<typeof checkArguments>;

export type RenderArguments = z.infer<typeof renderArguments>;
