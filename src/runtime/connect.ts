import { randomUUID } from 'node:crypto';
import type { Event } from '../events/events.js';
import { canBeGivenUp, type Exchange } from '../events/exchange.js';
import { History } from '../events/history.js';
import { createLog } from '../events/log.js';
import { openChoices } from '../events/questions.js';
import { createAgentClient } from '../http/pooled-client.js';
import type { UserChoice } from '../protocol/callbacks.js';
import type { Toolset } from '../protocol/toolset.js';
import { systemClock } from '../system/drafts.js';
import type { ListenerOptions } from './callback-server.js';
import { checkArguments, subscriptionEnd, toolOf } from './check-call.js';
import { discover } from './discover.js';
import { type Answering, closeThread } from './notices.js';
import { converse, giveUp } from './policy.js';
import { Runtime } from './runtime.js';

export interface ConnectOptions {
  /** Sent to the origin of the URL, and to no other. */
  readonly headers?: Readonly<Record<string, string>>;
  /** On 127.0.0.1 and any free port unless told; bodies up to 64 MiB. */
  readonly listener?: Partial<ListenerOptions>;
  /** Told every event as it happens. */
  readonly onEvent?: (event: Event) => void;
}

export interface InvokeSettings {
  /** Milliseconds for the result; 60,000 unless told, 0 waits for ever. */
  readonly timeoutMs?: number;
  /** Of the dispatch, 2 unless told. */
  readonly retries?: number;
  readonly lenientAck?: boolean;
  /** The conversation thread; a fresh one unless told, closed with the connection. */
  readonly groupId?: string;
  readonly id?: string;
  readonly callId?: string;
  /**
   * Answers what the tool asks: the index of a choice (RT-CHOICE). Without it, or where it throws, the call is given back with its
   * question.
   */
  readonly choose?: (question: UserChoice) => number | Promise<number>;
  /** Resolves only after the last event of what the call subscribed to (RT-SUB). */
  readonly follow?: boolean;
}

/** A tool server that was discovered, and a listener for its callbacks. */
export interface Connection extends AsyncDisposable {
  readonly toolset: Toolset;
  readonly history: History;
  /**
   * Calls an operation and resolves once the call is settled, well or not: `outcomeOf` and `llmTextOf` say how; or once
   * the tool asks the user something that nobody answers (`exchange.waitingFor`).
   * @throws ProtocolCliError `unknown-operation` or `invalid-arguments` before anything is sent (RT-OP, RT-ARGS).
   */
  invoke(operation: string, args: Record<string, unknown>, settings?: InvokeSettings): Promise<Exchange>;
  /** Cancels what is pending or subscribed, and tells the tool; then closes the threads that it invented. */
  close(): Promise<void>;
}

const LISTENER: ListenerOptions = { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 64 * 1024 * 1024 };

/**
 * Discovers the tools at a URL and listens for their callbacks; calls may run side by side.
 * @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset` or `port-in-use`.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Connection> {
  const log = createLog(systemClock.now);
  const history = new History();
  log.subscribe(event => history.apply(event));
  if (options.onEvent) log.subscribe(options.onEvent);
  const client = createAgentClient();
  const wire = { client, log, credentials: { origin: new URL(url).origin, headers: options.headers ?? {} } };
  const { base, toolset } = await discover(wire, url).catch(closing(client));
  const listener = { ...LISTENER, ...options.listener };
  const runtime = await Runtime.start({ log, history, clock: systemClock, listener }).catch(closing(client));
  const ourThreads = new Set<string>();

  const invoke: Connection['invoke'] = async (operation, args, settings = {}) => {
    const { timeoutMs = 60_000, retries = 2, lenientAck = false, callId = null, groupId } = settings;
    const { id = `call_${randomUUID()}`, choose, follow = false } = settings;
    await checkArguments(toolOf(toolset, operation), args);
    const thread = groupId ?? `thread_${randomUUID()}`;
    if (groupId === undefined) ourThreads.add(thread);
    const { invocation } = runtime.address({
      operation,
      arguments: args,
      id,
      call_id: callId,
      group_id: thread,
    });
    const { endpoint } = toolset;
    const { answering, leave } = answeringBy(choose);
    const call = { endpoint, invocation, timeoutMs, retries, lenientAck, leave };
    const exchange = await converse({ runtime, wire, history, clock: systemClock }, call, answering);
    if (!follow) return exchange;
    await subscriptionEnd(log, history, id);
    return history.exchanges.get(id) ?? exchange;
  };
  const close = async () => {
    const left = [...history.exchanges.values()].filter(canBeGivenUp);
    await Promise.all(left.map(exchange => giveUp(wire, base, exchange, 'policy')));
    await Promise.all([...ourThreads].map(thread => closeThread(wire, base, thread)));
    await Promise.all([runtime.close(), client.close()]);
  };
  return { toolset, history, invoke, close, [Symbol.asyncDispose]: close };
}

/** Whoever calls is asked; where that cannot answer, the call is left. */
function answeringBy(choose: InvokeSettings['choose']): {
  readonly answering: Answering;
  readonly leave: (exchange: Exchange) => boolean;
} {
  let canAnswer = choose !== undefined;
  const select = async (question: UserChoice) => {
    try {
      return choose ? inRange(await choose(question), question) : null;
    } catch (error) {
      canAnswer = false;
      throw error;
    }
  };
  return {
    answering: { by: 'policy', select },
    leave: exchange => openChoices(exchange).length > 0 && !canAnswer,
  };
}

/** @throws RangeError where it is the index of no choice. */
function inRange(selected: number, { choices }: UserChoice): number {
  if (choices[selected] === undefined)
    throw new RangeError(`${selected} is the index of none of the ${choices.length} choices`);
  return selected;
}

function closing(client: { close(): Promise<void> }): (error: unknown) => Promise<never> {
  return async error => {
    await client.close();
    throw error;
  };
}
