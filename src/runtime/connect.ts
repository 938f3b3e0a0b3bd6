import { randomUUID } from 'node:crypto';
import type { Event } from '../events/events.js';
import { canBeCanceled, type Exchange, openChoices } from '../events/exchange.js';
import { History } from '../events/history.js';
import { createLog } from '../events/log.js';
import { createPooledClient } from '../http/pooled-client.js';
import type { UserChoice } from '../protocol/callbacks.js';
import type { Toolset } from '../protocol/toolset.js';
import { systemClock } from '../system/clock.js';
import { secretsOfHeaders } from '../util/credentials.js';
import { ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { createRedactor } from '../util/redact.js';
import type { ListenerOptions } from './callback-server.js';
import { checkArguments, toolOf } from './check-call.js';
import { Runtime, subscriptionEnd } from './runtime.js';
import { Wire } from './wire.js';

/**
 * How to call a tool server.
 * @example
 * const options: ConnectOptions = { headers: { authorization: 'Bearer my-token' }, groupId: 'thread_1' };
 */
export interface ConnectOptions {
  /** Sent to the origin of the URL only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 127.0.0.1, any free port, bodies up to 64 MiB. */
  readonly listener?: Partial<ListenerOptions>;
  /** Receives every event as it happens, including request headers as sent. */
  readonly onEvent?: (event: Event) => void;
  /** The conversation thread of all calls, also of those at other servers; closed with the connection. Default: a fresh one per call. */
  readonly groupId?: string;
}

/**
 * How to make one call.
 * @example
 * const settings: InvokeSettings = { timeoutMs: 5_000, choose: question => question.default };
 */
export interface InvokeSettings {
  /** Milliseconds for the result; default: 60,000, 0 waits forever. */
  readonly timeoutMs?: number;
  /** Retries of the dispatch; default: 2. */
  readonly retries?: number;
  readonly lenientAck?: boolean;
  /** The conversation thread, which is not closed; default: that of the connection. */
  readonly groupId?: string;
  readonly id?: string;
  readonly callId?: string;
  /**
   * Answers a question of the tool with the index of a choice (RT-CHOICE). Without it, or if it throws, `invoke` resolves with the
   * question open.
   */
  readonly choose?: (question: UserChoice) => number | Promise<number>;
  /** Resolves only after the last event of the call's subscription (RT-SUB). */
  readonly follow?: boolean;
}

/** A discovered tool server, and a listener for its callbacks. */
export interface Connection extends AsyncDisposable {
  readonly toolset: Toolset;
  readonly history: History;
  /**
   * Calls an operation. Resolves when the call is settled, successfully or not (see `outcomeOf` and `llmTextOf`), or when the tool
   * asks a question that is not answered (`exchange.waitingFor`).
   * @throws ProtocolCliError `unknown-operation` or `invalid-arguments` before anything is sent (RT-OP, RT-ARGS).
   */
  invoke(operation: string, args: Record<string, unknown>, settings?: InvokeSettings): Promise<Exchange>;
  /** Cancels pending calls and subscriptions, then closes the threads that this connection created. */
  close(): Promise<void>;
}

const LISTENER: ListenerOptions = {
  host: '127.0.0.1',
  port: 0,
  allowedHosts: [],
  maxBody: LIMITS.messageBytes.value,
};

/**
 * Discovers the tools at a URL and listens for their callbacks; calls may run in parallel.
 * @param url the base URL of the server
 * @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset` or `port-in-use`
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Connection> {
  const { headers = {}, onEvent } = options;
  const redact = createRedactor(secretsOfHeaders(headers)).text;
  const log = createLog(systemClock.now);
  const history = new History(true, redact);
  log.subscribe(event => history.apply(event));
  if (onEvent) log.subscribe(onEvent);
  const client = createPooledClient();
  const wire = new Wire(log, client, url, headers);
  const listener = { ...LISTENER, ...options.listener };
  const open = async () => {
    const { toolset } = await wire.discover();
    return { toolset, runtime: await Runtime.start({ log, history, clock: systemClock, listener }) };
  };
  const { toolset, runtime } = await open().catch(async (error: unknown) => {
    await client.close();
    throw error instanceof ProtocolCliError ? error.mapText(redact) : error;
  });
  const ourThreads = new Set(options.groupId === undefined ? [] : [options.groupId]);

  const invoke: Connection['invoke'] = async (operation, args, settings = {}) => {
    const { timeoutMs = 60_000, retries = 2, lenientAck = false, callId = null, groupId } = settings;
    const { id = `call_${randomUUID()}`, choose, follow = false } = settings;
    await checkArguments(toolOf(toolset, operation), args);
    const thread = groupId ?? options.groupId ?? `thread_${randomUUID()}`;
    if (groupId === undefined) ourThreads.add(thread);
    const call = { operation, arguments: args, id, call_id: callId, group_id: thread };
    const invocation = runtime.addressed(call);
    let canAnswer = choose !== undefined;
    const exchange = await runtime.invoke(
      wire,
      {
        endpoint: toolset.endpoint,
        invocation,
        timeoutMs,
        retries,
        lenientAck,
        stopWaiting: pending => openChoices(pending).length > 0 && !canAnswer,
      },
      {
        by: 'policy',
        async select(question) {
          try {
            return choose ? inRange(await choose(question), question) : null;
          } catch (error) {
            canAnswer = false;
            throw error;
          }
        },
      },
    );
    if (!follow) return exchange;
    await subscriptionEnd(log, history, id);
    return history.exchanges.get(id) ?? exchange;
  };
  const close = async () => {
    const pending = [...history.exchanges.values()].filter(canBeCanceled);
    await Promise.all(pending.map(exchange => wire.cancelCall(exchange, 'policy')));
    await Promise.all([...ourThreads].map(thread => wire.closeThread(thread)));
    await Promise.all([runtime.close(), client.close()]);
  };
  return { toolset, history, invoke, close, [Symbol.asyncDispose]: close };
}

/** @throws RangeError for an index that is not one of the choices. */
function inRange(selected: number, { choices }: UserChoice): number {
  if (choices[selected] === undefined)
    throw new RangeError(`${selected} is not the index of one of the ${choices.length} choices`);
  return selected;
}
