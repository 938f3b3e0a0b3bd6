import * as z from 'zod/mini';
import { isRecord, stringOrJson } from '../util/values.js';

/** A call that an agent session waits for; the answer repeats it whole (seed 001). The id may be null or absent. */
const toolRequestSchema = z.object({
  tool_name: z.string(),
  args: z.optional(z.record(z.string(), z.unknown())),
  id: z.nullish(z.string()),
});

export type ToolRequest = z.infer<typeof toolRequestSchema>;

/** A successful call. `result` is any JSON; an absent result is not null (seed 001). */
export const sessionResultSchema = z.object({
  kind: z.literal('tool_result'),
  tool_req: toolRequestSchema,
  result: z.optional(z.unknown()),
});

/** A failed call: `error` is shown to the model, `origin` names its source. */
export const errorEventSchema = z.object({
  kind: z.literal('error_event'),
  error: z.string(),
  origin: z.string(),
  tool_req: toolRequestSchema,
});

const settledCallSchema = z.discriminatedUnion('kind', [sessionResultSchema, errorEventSchema]);

/** An item of the body of `POST /api/v2/sessions/{id}/tool_results`. */
export type SettledCall = z.infer<typeof settledCallSchema>;

/** The status of an agent session. */
export type SessionStatus =
  | 'queued'
  | 'pending'
  | 'running'
  | 'paused'
  | 'idle'
  | 'awaiting_tool_results'
  | 'completed'
  | 'failed'
  | 'timed_out'
  | 'interrupted';

/** All statuses, and whether the session can never continue. */
const IS_END: Readonly<Record<SessionStatus, boolean>> = {
  queued: false,
  pending: false,
  running: false,
  paused: false,
  idle: false,
  awaiting_tool_results: false,
  completed: true,
  failed: true,
  timed_out: true,
  interrupted: true,
};

/** All statuses of an agent session. */
export const SESSION_STATUSES = Object.keys(IS_END) as readonly SessionStatus[];

const TERMINAL: ReadonlySet<string> = new Set(SESSION_STATUSES.filter(status => IS_END[status]));

/** Whether the session can never continue. */
export const isTerminal = (status: string): boolean => TERMINAL.has(status);

/** Whether clients treat the session as ended: an idle session waits for a message. */
export const isSettledStatus = (status: string): boolean => isTerminal(status) || status === 'idle';

/** One event of an agent session; its type and data are open. */
const sessionEventSchema = z.object({
  type: z.string(),
  data: z.optional(z.unknown()),
  timestamp: z.optional(z.string()),
});

export type SessionEvent = z.infer<typeof sessionEventSchema>;

/** The type of events whose `data` has the pending calls; the latest one counts. */
export const ACTIVE_STATE_CHANGE = 'ActiveStateChangeEvent';

export const activeStateSchema = z.object({
  state: z.string(),
  pending_tool_calls: z.optional(z.array(toolRequestSchema)),
});

/**
 * The body of `GET …/changes`, as far as a client needs it. Without news the response is a 204. Events are validated one by one, so that
 * an invalid one does not affect the others.
 */
export const changesSchema = z.object({
  status: z.string(),
  error: z.optional(z.unknown()),
  answer: z.optional(z.unknown()),
  new_events: z.nullish(z.array(z.unknown())),
  first_index: z.nullish(z.number()),
});

/** The same body in a file, as far as it is shown. */
export const savedChangesSchema = z.extend(z.omit(changesSchema, { first_index: true }), {
  started_at: z.nullish(z.string()),
  finished_at: z.nullish(z.string()),
  error: z.nullish(z.string()),
  new_events: z.optional(z.array(sessionEventSchema)),
});

const MAX_FAULTS = 5;

/** The reason in a platform's error response: `detail`, possibly a list of field errors, or `message`. */
export function refusalIn(body: unknown): string {
  if (!isRecord(body)) return '';
  const { message, detail } = body;
  if (Array.isArray(detail)) return detail.slice(0, MAX_FAULTS).map(faultIn).join('; ');
  return [detail, message].find(words => typeof words === 'string') ?? '';
}

function faultIn(fault: unknown): string {
  if (!isRecord(fault)) return stringOrJson(fault);
  const { loc, msg } = fault;
  if (msg === undefined) return stringOrJson(fault);
  const place = Array.isArray(loc) ? `${loc.map(stringOrJson).join('.')}: ` : '';
  return place + stringOrJson(msg);
}
