import * as z from 'zod/mini';
import { type Invocation, invocationSchema } from '../protocol/invocation.js';
import type { InvocationEvent, RequestEvent } from './events.js';

/** Whether an invocation is answered where it was made, as MCP does it: a runtime of RAP is called back instead. */
export function isDirect({ from }: Pick<RequestEvent, 'from'>): boolean {
  return from === 'client';
}

/** On an MCP wire there is nowhere to call back, and no thread. */
const mcpCallSchema = z.extend(invocationSchema, {
  callback_url: z._default(z.string(), ''),
  group_id: z._default(z.string(), 'mcp'),
});

/** What an exchange begins with, by its wire; null where that cannot be read. */
export function invocationOf(event: InvocationEvent): Invocation | null {
  const json = event.body?.json;
  const schema = isOnMcp(event) ? mcpCallSchema : invocationSchema;
  const invocation = schema.safeParse(json?.ok ? json.value : undefined);
  return invocation.success ? invocation.data : null;
}

/** Whether it is a call that goes over MCP, sent or not. */
export function isOnMcp(event: InvocationEvent): boolean {
  return event.kind !== 'expected' && event.dialect === 'mcp';
}
