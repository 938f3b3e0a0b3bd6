import { elicitationSchema, progressSchema, questionOf } from '../protocol/mcp/server-messages.js';
import { validate } from '../protocol/validate.js';
import type { Content } from './content.js';
import type { RequestEvent } from './events.js';
import type { Arrival, Exchange } from './exchange.js';
import { judgeQuestion, rejection } from './judge.js';

/** What an MCP server sends to the client during a call: progress, or a form to fill in. */
export function mcpArrivalOf(exchange: Exchange, { leg, at, method }: RequestEvent, body: Content): Arrival {
  const { sha256, size } = body;
  const about = { leg, at, sha256, size, message: null, warnings: [] };
  const value = body.json.ok ? body.json.value : undefined;
  if (method === 'elicitation/create') {
    const form = validate(elicitationSchema, value);
    if (!form.ok) return { ...about, verdict: rejection(form.faults) };
    const { group_id: group, id } = exchange.invocation;
    const verdict = judgeQuestion(exchange, leg); // the same form can come twice: each is a question
    return { ...about, verdict, message: questionOf(form.value, { group, id }) };
  }
  const progress = validate(progressSchema, value);
  if (!progress.ok) return { ...about, verdict: rejection(progress.faults) };
  return { ...about, verdict: { kind: 'noted', status: 200 }, progress: progress.value };
}
