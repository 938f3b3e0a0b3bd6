import * as z from 'zod/mini';
import { foreignWords, isRecord } from '../util/values.js';

/** A call that an agent session waits for, and what an answer echoes whole (seed 001). The id may be null, or left out. */
export const toolRequestSchema = z.object({
  tool_name: z.string(),
  args: z.optional(z.record(z.string(), z.unknown())),
  id: z.nullish(z.string()),
});

export type ToolRequest = z.infer<typeof toolRequestSchema>;

/** A call that went well. `result` is any JSON, and left out is not null (seed 001). */
export const sessionResultSchema = z.object({
  kind: z.literal('tool_result'),
  tool_req: toolRequestSchema,
  result: z.optional(z.unknown()),
});

/** A call that failed: `error` is shown to the model, `origin` names what produced it. */
export const errorEventSchema = z.object({
  kind: z.literal('error_event'),
  error: z.string(),
  origin: z.string(),
  tool_req: toolRequestSchema,
});

const settledCallSchema = z.discriminatedUnion('kind', [sessionResultSchema, errorEventSchema]);

/** What `POST /api/v2/sessions/{id}/tool_results` takes. */
export type SettledCall = z.infer<typeof settledCallSchema>;

/** Every status an agent session can have (platforms). */
const SESSION_STATUSES = [
  'queued',
  'pending',
  'running',
  'paused',
  'idle',
  'awaiting_tool_results',
  'completed',
  'timed_out',
  'interrupted',
  'failed',
] as const;

export type SessionStatus = (typeof SESSION_STATUSES)[number];

const TERMINAL: ReadonlySet<string> = new Set(['completed', 'timed_out', 'interrupted', 'failed']);

/** Nothing more happens in it. */
export const isTerminal = (status: string): boolean => TERMINAL.has(status);

/** What clients take for the end: an idle session waits for a message (platforms). */
export const isSettledStatus = (status: string): boolean => isTerminal(status) || status === 'idle';

/** One event of an agent session; its type and data are open. */
const sessionEventSchema = z.object({
  type: z.string(),
  data: z.optional(z.unknown()),
  timestamp: z.optional(z.string()),
});

/** What an event of this type has in `data`: the latest says which calls are pending (platforms). */
export const ACTIVE_STATE_CHANGE = 'ActiveStateChangeEvent';

export const activeStateSchema = z.object({
  state: z.string(),
  pending_tool_calls: z.optional(z.array(toolRequestSchema)),
});

/** The body of `GET …/changes`; where there is nothing new the answer is a 204. */
export const changesSchema = z.object({
  status: z.string(),
  started_at: z.nullish(z.string()),
  finished_at: z.nullish(z.string()),
  error: z.nullish(z.string()),
  answer: z.optional(z.unknown()),
  metrics: z.optional(z.unknown()),
  new_events: z.optional(z.array(sessionEventSchema)),
});

export type SessionEvent = z.infer<typeof sessionEventSchema>;

export type Changes = z.infer<typeof changesSchema>;

const MOST_FAULTS = 5;

/** What a platform says of a request that it refuses: `detail`, which may be a list that names fields, or `message` (platforms). */
export function refusalIn(body: unknown): string {
  if (!isRecord(body)) return '';
  const { message, detail } = body;
  if (Array.isArray(detail)) return detail.slice(0, MOST_FAULTS).map(faultIn).join('; ');
  return [detail, message].find(words => typeof words === 'string') ?? '';
}

function faultIn(fault: unknown): string {
  if (!isRecord(fault)) return foreignWords(fault);
  const { loc, msg } = fault;
  if (msg === undefined) return foreignWords(fault);
  const place = Array.isArray(loc) ? `${loc.map(foreignWords).join('.')}: ` : '';
  return place + foreignWords(msg);
}
