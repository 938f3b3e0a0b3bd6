import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { Content } from '../../exchange/content.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { Log } from '../../exchange/log.js';
import { type Elicitation, elicitationSchema } from '../../protocol/mcp/server-messages.js';
import type { Clock } from '../../system/clock.js';
import { settlement } from '../settlement.js';
import type { Elicit, McpConnection } from './client.js';
import { failureOfMcp, type McpFailure } from './explain.js';

export interface McpCall {
  /** Names the call in every event. */
  readonly id: string;
  readonly operation: string;
  readonly arguments: Record<string, unknown>;
  /** A URL, or what was started. */
  readonly endpoint: string;
  /** What the user had sent with it, told redacted. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds; 0 waits for ever. */
  readonly timeoutMs: number;
}

/** What a form is answered with. */
export interface FormAnswer {
  readonly by: 'person' | 'flag';
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  /** Index of the choice that it is; see `questionOf`. */
  readonly selected: number;
}

interface Desk {
  readonly log: Log;
  /** Must be subscribed to `log`. */
  readonly history: History;
  readonly clock: Clock;
  /** Whether the time limit stands still while a question is open. */
  readonly waitsForPeople?: boolean;
  /** Answers the nth form of the call, from 0; null when nobody answers. Then the call is cancelled. */
  readonly answer?: (form: Elicitation, signal: AbortSignal, nth: number) => Promise<FormAnswer | null>;
}

/** How it ended, and what the request was rejected with, where it was. */
export interface McpCalled {
  readonly exchange: Exchange;
  readonly error: unknown;
}

/** MCP has no thread; all calls of one connection are as one. */
const THREAD = 'mcp';

/** Sends `tools/call`, tells the log, and resolves once the call is settled; one that is given up is cancelled on the wire. */
export async function callMcp(connection: McpConnection, call: McpCall, desk: Desk): Promise<McpCalled> {
  const { log, history, clock, waitsForPeople = true } = desk;
  const { id, operation, timeoutMs } = call;
  const abort = new AbortController();
  const watch = { key: id, timeoutMs, waitsForPeople };
  const over = settlement(log, history, clock, watch).then(() => abort.abort(GIVEN_UP));
  const leg = log.leg();
  log.emit({ ...requestOf(call), kind: 'request', leg, calls: [id], thread: THREAD });
  const params = { name: operation, arguments: call.arguments };
  const notice = (method: string, content: unknown) => record(log, call, method, content);
  const elicit = answering(call, desk, notice);
  const onProgress = (progress: unknown) => void notice('notifications/progress', progress);
  connection.elicit = elicit;
  const error: unknown = await callUntilDone(connection, params, { signal: abort.signal, onProgress }, elicit)
    .finally(() => {
      connection.elicit = null;
    })
    .then(
      result => ({ failure: null, result }),
      (rejection: unknown) => ({ failure: failureOfMcp(rejection), rejection }),
    )
    .then(end => {
      if (abort.signal.aborted) return undefined; // what ended it is told already
      for (const fact of end.failure ? failureFacts(end.failure) : [resultFact(end.result)])
        log.emit({ ...fact, leg, calls: [id], thread: THREAD });
      if (history.exchanges.get(id)?.settled) return undefined;
      log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [id] });
      return 'rejection' in end ? end.rejection : undefined;
    });
  await over;
  return { exchange: exchangeOf(history, id), error };
}

/** The server can ask for input this often in one call. */
const MOST_ROUNDS = 20;
/** Ms before a call is repeated that the server put off. */
const PAUSE_MS = 250;

const inputRequiredSchema = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z._default(
    z.record(z.string(), z.object({ method: z.string(), params: z.optional(z.unknown()) })),
    {},
  ),
  requestState: z.optional(z.string()),
});

/**
 * Calls a tool. From protocol version 2026-07-28 on, a server asks for input with a result that says so, and is called again with the
 * answers. A result that asks for what this client cannot give is returned as it is.
 */
async function callUntilDone(
  connection: McpConnection,
  params: Record<string, unknown>,
  limits: { readonly signal: AbortSignal; readonly onProgress: (progress: unknown) => void },
  elicit: Elicit,
): Promise<unknown> {
  let more = {};
  for (let round = 0; ; round++) {
    const result = await connection.request('tools/call', { ...params, ...more }, limits);
    const needed = inputRequiredSchema.safeParse(result);
    if (!needed.success || round === MOST_ROUNDS) return result;
    const { inputRequests, requestState } = needed.data;
    const requests = Object.entries(inputRequests);
    if (requests.some(([, { method }]) => method !== 'elicitation/create')) return result;
    const inputResponses: Record<string, unknown> = {};
    for (const [key, request] of requests) inputResponses[key] = await elicit(request.params, limits.signal);
    more = { inputResponses, ...(requestState !== undefined && { requestState }) };
    if (requests.length === 0) await delay(PAUSE_MS, undefined, { signal: limits.signal });
  }
}

/** Answers the forms of a call, one after the other, and records each with its answer. */
function answering(call: McpCall, desk: Desk, notice: (method: string, content: unknown) => string): Elicit {
  const { log, history } = desk;
  let nth = 0;
  let before: Promise<unknown> = Promise.resolve();
  const elicit: Elicit = async (params, signal) => {
    const leg = notice('elicitation/create', params);
    const form = elicitationSchema.safeParse(params);
    const isOpen = history.exchanges.get(call.id)?.questions.some(each => each.leg === leg);
    const answer = form.success && isOpen && desk.answer && (await desk.answer(form.data, signal, nth++));
    const calls = [call.id];
    if (isOpen && !answer && !history.exchanges.get(call.id)?.settled)
      log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls });
    const { by, action, content, selected } = answer || CANCELLED;
    if (answer) log.emit({ kind: 'decided', what: 'choice', by, value: selected, question: leg, calls });
    const result = { action, ...(content && { content }) };
    const body = Content.ofJson(result);
    log.emit({ kind: 'response', leg, status: 200, headers: {}, body, calls, thread: THREAD });
    return result;
  };
  return (params, signal) => {
    const answered = before.then(() => elicit(params, signal));
    before = answered.catch(() => {});
    return answered;
  };
}

const CANCELLED: FormAnswer = { by: 'flag', action: 'cancel', selected: 0 };

/** Records a message of the server that belongs to a call. Returns its leg. */
function record(log: Log, { id, endpoint }: McpCall, method: string, content: unknown): string {
  const leg = log.leg();
  const about = { from: 'tool', to: 'client', purpose: 'callback', dialect: 'mcp' } as const;
  const message = { leg, method, url: endpoint, headers: {}, attempt: 1, body: Content.ofJson(content) };
  log.emit({ kind: 'request', ...about, ...message, calls: [id], thread: THREAD });
  return leg;
}

/** What the server is told. */
const GIVEN_UP = 'the call was given up';

type Ending = { readonly kind: 'response'; status: number; headers: Record<string, string>; body: Content };
type Broken = { readonly kind: 'broken'; phase: string; code: string };

function resultFact(result: unknown): Ending {
  return { kind: 'response', status: 200, headers: {}, body: Content.ofJson(result ?? null) };
}

/** An error of JSON-RPC stands in the place of a result. */
function failureFacts(failure: McpFailure): (Ending | Broken)[] {
  switch (failure.kind) {
    case 'error': {
      const { kind: _, ...error } = failure;
      return [resultFact({ error })];
    }
    case 'status': {
      const { status, text } = failure;
      return [{ kind: 'response', status, headers: {}, body: new Content(Buffer.from(text)) }];
    }
    case 'broken':
      return [failure];
  }
}

function requestOf({ id, operation, arguments: args, endpoint, headers }: McpCall) {
  return {
    from: 'client',
    to: 'tool',
    purpose: 'invocation',
    dialect: 'mcp',
    method: 'tools/call',
    url: endpoint,
    headers: { ...headers },
    attempt: 1,
    body: Content.ofJson({ operation, arguments: args, id }),
  } as const;
}

/** A call that is not made, since it is not allowed: the exchange it ends in. */
export function denyMcp(
  { id, operation: tool, arguments: args }: Pick<McpCall, 'id' | 'operation' | 'arguments'>,
  { by, reason }: { readonly by: 'person' | 'policy'; readonly reason: string },
  { log, history }: Pick<Desk, 'log' | 'history'>,
): Exchange {
  const body = Content.ofJson({ operation: tool, arguments: args, id });
  log.emit({ kind: 'denied', dialect: 'mcp', by, tool, reason, calls: [id], thread: THREAD, body });
  return exchangeOf(history, id);
}

function exchangeOf({ exchanges }: History, id: string): Exchange {
  const exchange = exchanges.get(id);
  if (!exchange) throw new Error('the history must be subscribed to the log');
  return exchange;
}
