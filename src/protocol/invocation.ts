import * as z from 'zod/mini';
import type { JsonReading } from '../util/json.js';
import { isRecord } from '../util/values.js';
import { validate } from './validate.js';
import { webUrlSchema } from './web-url.js';

/** Taken as sent, since a schema's copy would lose a key named `__proto__` (threats, row 19). */
const argumentsSchema = z
  .custom<Record<string, unknown>>(isRecord, {
    error: ({ input }) => (input === undefined ? 'is required' : 'must be an object'),
  })
  .check(z.meta({ type: 'object' })); // what a JSON Schema says of it

/**
 * A zod schema of the request of a runtime to execute one operation (seed 004). Unknown fields are ignored. As JSON Schema:
 * `protocol-cli/invocation.schema.json`.
 * @example
 * const { success } = invocationSchema.safeParse({ operation: 'echo', arguments: { text: 'hi' } });
 */
export const invocationSchema = z.object({
  operation: z.string().check(z.minLength(1)),
  arguments: argumentsSchema,
  id: z.string().check(z.minLength(1)),
  call_id: z.nullish(z.string()),
  callback_url: z.string().check(z.minLength(1)),
  group_id: z.string().check(z.minLength(1)),
  thread_ancestors: z.nullish(z.array(z.string())),
  user_id: z.nullish(z.string()),
});

/**
 * The request of a runtime to execute one operation.
 * @example
 * const isEcho = ({ operation }: Invocation) => operation === 'echo';
 */
export type Invocation = z.infer<typeof invocationSchema>;

/** A recorded call of MCP, which has neither a callback URL nor a thread. */
export const mcpCallSchema = z.extend(invocationSchema, {
  callback_url: z._default(z.string(), ''),
  group_id: z._default(z.string(), 'mcp'),
});

/** An invocation to which the runtime adds its callback URL. */
export type UnaddressedInvocation = Omit<Invocation, 'callback_url'>;

/** The address and the ids that a callback needs. */
export type Addressee = Pick<Invocation, 'callback_url' | 'group_id' | 'id' | 'call_id'>;

export type InvocationReading =
  | { readonly ok: true; readonly invocation: Invocation; readonly notes: readonly string[] }
  /** `addressee`: where to send the error, if the callback URL is readable (TOOL-MALFORMED). */
  | { readonly ok: false; readonly faults: readonly string[]; readonly addressee: Addressee | null };

/** Validates the body of an invocation. The schema copies known keys only (threats, row 19). */
export function readInvocation(
  reading: JsonReading,
  schema: typeof invocationSchema | typeof mcpCallSchema = invocationSchema,
): InvocationReading {
  if (!reading.ok) return { ok: false, faults: [reading.reason], addressee: null };
  const checked = validate(schema, reading.value);
  if (checked.ok) return { ok: true, invocation: checked.value, notes: reading.notes };
  return { ok: false, faults: checked.faults, addressee: addresseeOf(reading.value) };
}

/** Where callbacks go, also for an invalid invocation. */
export function addresseeIn(reading: InvocationReading): Addressee | null {
  return reading.ok ? reading.invocation : reading.addressee;
}

function addresseeOf(value: unknown): Addressee | null {
  const { callback_url, group_id, id, call_id } = isRecord(value) ? value : {};
  if (typeof callback_url !== 'string' || callback_url === '') return null;
  const echo = typeof call_id === 'string' ? { call_id } : {};
  return { callback_url, group_id: named(group_id), id: named(id), ...echo };
}

/** Accepts a number as an id; other types cannot be echoed. */
function named(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const thread_id = z.string();

/** Runtime → tool, except invocations: the path below the tool server's base URL, and the body. Sent once, without retries (RT-NOTIFY). */
export const NOTICES = {
  /** Cancels a call. The tool may still send a result. */
  cancel: { path: '/cancel_tool_call', body: z.object({ thread_id, tool_call_id: z.string() }) },
  close: { path: '/close_thread', body: z.object({ thread_id }) },
  /** Migrates the state of a session if the toolset has `needsMigration` (TOOL-MIGRATE). */
  migrate: {
    path: '/migrate',
    body: z.object({
      session_id: z.string(),
      destination_url: webUrlSchema,
    }),
  },
};

type NoticeKind = keyof typeof NOTICES;

/** A message to a tool server that is not an invocation; `kind` is its purpose in the log. */
export type Notice = {
  readonly [Kind in NoticeKind]: {
    readonly kind: Kind;
    readonly message: z.infer<(typeof NOTICES)[Kind]['body']>;
  };
}[NoticeKind];

/** Runtime → tool: the user's selection (`POST` to the choice's `response_url`); `selected` is an index into `choices`. */
export const choiceResponseSchema = z.object({ id: z.string(), selected: z.int().check(z.nonnegative()) });
