import * as z from 'zod/mini';
import { foreignWords, isRecord } from '../util/values.js';
import { toolRequestSchema } from './callbacks.js';

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
