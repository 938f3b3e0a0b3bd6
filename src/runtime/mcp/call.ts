import { Content } from '../../events/content.js';
import type { Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import { type Log, type RecordedRequest, recordRequest } from '../../events/log.js';
import { type Elicitation, elicitationSchema } from '../../protocol/mcp.js';
import type { Clock } from '../../system/clock.js';
import { settlement } from '../runtime.js';
import type { Elicit, McpServer } from './connection.js';
import { failureOfMcp } from './transports.js';

interface McpCall {
  readonly id: string;
  readonly operation: string;
  readonly arguments: Record<string, unknown>;
  /** 0 for no limit. */
  readonly timeoutMs: number;
}

export interface FormAnswer {
  readonly by: 'person' | 'flag';
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  /** Index of the choice; see `questionOf`. */
  readonly selected: number;
}

interface McpContext {
  readonly log: Log;
  /** Must be subscribed to `log`. */
  readonly history: History;
  readonly clock: Clock;
  /** Whether the time limit pauses while the user decides. */
  readonly pausesForUser: boolean;
  /** Answers the nth form of the call, from 0; null without an answer, which cancels the call. */
  readonly answer: (form: Elicitation, signal: AbortSignal, nth: number) => Promise<FormAnswer | null>;
}

/** A finished call, and the error if the connection failed. */
export interface McpCalled {
  readonly exchange: Exchange;
  readonly error: unknown;
}

/** MCP has no threads, so all calls of a connection use one. */
const THREAD = 'mcp';

/** Sends `tools/call`, records it, and resolves when the call is settled; canceling a call also cancels it on the server. */
export async function callMcp(server: McpServer, call: McpCall, context: McpContext): Promise<McpCalled> {
  const { log, history, clock, pausesForUser } = context;
  const { id, operation, timeoutMs } = call;
  const concerns = { calls: [id], thread: THREAD };
  const record = (purpose: 'invocation' | 'callback', method: string, content: unknown) => {
    const isOurs = purpose === 'invocation';
    const route = isOurs
      ? ({ from: 'client', to: 'tool' } as const)
      : ({ from: 'tool', to: 'client' } as const);
    const headers = isOurs ? { ...server.headers } : {};
    const body = Content.ofJson(content);
    const about = { ...route, purpose, dialect: 'mcp', url: server.endpoint, headers, ...concerns } as const;
    return recordRequest(log, { ...about, method, body });
  };
  const abort = new AbortController();
  const { signal } = abort;
  const over = settlement(log, history, clock, { key: id, timeoutMs, pausesForUser }).then(() =>
    abort.abort('the call was given up'),
  );
  const args = { arguments: call.arguments };
  const recorded = record('invocation', 'tools/call', { operation, ...args, id });
  const onProgress = (progress: unknown) => void record('callback', 'notifications/progress', progress);
  const elicit = elicitation(call, context, form => record('callback', 'elicitation/create', form));
  let rejection: unknown;
  try {
    const result = await server.callTool({ name: operation, ...args }, { signal, onProgress }, elicit);
    if (!signal.aborted) recorded.answered(200, { body: Content.ofJson(result ?? null) });
  } catch (error) {
    if (!signal.aborted) recordFailure(recorded, error);
    rejection = error;
  }
  const isOpen = !signal.aborted && !history.exchanges.get(id)?.settled;
  if (isOpen) log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [id] });
  await over;
  return { exchange: exchangeOf(history, id), error: isOpen ? rejection : undefined };
}

export function denyMcp(
  { id, operation: tool, arguments: args }: McpCall,
  { by, reason }: { readonly by: 'person' | 'policy'; readonly reason: string },
  { log, history }: Pick<McpContext, 'log' | 'history'>,
): Exchange {
  const body = Content.ofJson({ operation: tool, arguments: args, id });
  log.emit({ kind: 'denied', dialect: 'mcp', by, tool, reason, calls: [id], thread: THREAD, body });
  return exchangeOf(history, id);
}

/** Answers the forms of a call one at a time, and records each with its answer. */
function elicitation(
  { id }: McpCall,
  { log, history, answer }: McpContext,
  record: (form: unknown) => RecordedRequest,
): Elicit {
  let nth = 0;
  let before: Promise<unknown> = Promise.resolve();
  const elicit: Elicit = async (params, signal) => {
    const recorded = record(params);
    const form = elicitationSchema.safeParse(params);
    const calls = [id];
    const isOpen = history.exchanges.get(id)?.questions.some(({ leg }) => leg === recorded.leg) ?? false;
    const given = form.success && isOpen ? await answer(form.data, signal, nth++) : null;
    if (isOpen && !given && !history.exchanges.get(id)?.settled)
      log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls });
    if (given) {
      const { by, selected: value } = given;
      log.emit({ kind: 'decided', what: 'choice', by, value, question: recorded.leg, calls });
    }
    const { action = 'cancel', content } = given ?? {};
    const result = { action, ...(content && { content }) };
    recorded.answered(200, { body: Content.ofJson(result) });
    return result;
  };
  return (params, signal) => {
    const answered = before.then(() => elicit(params, signal));
    before = answered.catch(() => {});
    return answered;
  };
}

/** Records a JSON-RPC error as the result. */
function recordFailure(recorded: RecordedRequest, error: unknown): void {
  const { kind: _, ...failure } = failureOfMcp(error);
  if ('phase' in failure) recorded.broken(failure.phase, failure.code);
  else if ('status' in failure)
    recorded.answered(failure.status, { body: new Content(Buffer.from(failure.text)) });
  else recorded.answered(200, { body: Content.ofJson({ error: failure }) });
}

function exchangeOf({ exchanges }: History, id: string): Exchange {
  const exchange = exchanges.get(id);
  if (!exchange) throw new Error('the history must be subscribed to the log');
  return exchange;
}
