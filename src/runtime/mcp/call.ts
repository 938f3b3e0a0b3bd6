import { Content } from '../../exchange/content.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { Log } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import { settlement } from '../settlement.js';
import type { McpConnection } from './connection.js';
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

interface Desk {
  readonly log: Log;
  /** Must be subscribed to `log`. */
  readonly history: History;
  readonly clock: Clock;
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
  const { log, history, clock } = desk;
  const { id, operation, timeoutMs } = call;
  const abort = new AbortController();
  const over = settlement(log, history, clock, { key: id, timeoutMs }).then(() => abort.abort(GIVEN_UP));
  const leg = log.leg();
  log.emit({ ...requestOf(call), kind: 'request', leg, calls: [id], thread: THREAD });
  const params = { name: operation, arguments: call.arguments };
  const error: unknown = await connection
    .request('tools/call', params, { signal: abort.signal })
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
