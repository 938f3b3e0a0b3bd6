import type { Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Log } from '../exchange/log.js';
import type { Invocation } from '../protocol/invocation.js';
import type { Clock } from '../system/clock.js';
import { type CallbackListener, type ListenerOptions, startCallbackListener } from './callback-listener.js';
import { dispatch } from './dispatch.js';
import { settlement } from './settlement.js';
import type { Wire } from './wire.js';

/** How long an acknowledgement may stay out once the result is here. */
const ACK_GRACE_MS = 1_000;

export interface RuntimeOptions {
  readonly log: Log;
  /** Must be subscribed to `log` before the runtime starts: the listener judges by it. */
  readonly history: History;
  readonly clock: Clock;
  readonly listener: ListenerOptions;
}

/** What is asked of a tool, and how long it is waited for. */
export interface Call {
  readonly endpoint: string;
  /** With a callback URL of this runtime, see {@link Runtime.address}. */
  readonly invocation: Invocation;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly lenientAck: boolean;
  /** See {@link settlement}. */
  readonly leave?: (exchange: Exchange) => boolean;
}

/** The runtime's side of the protocol: invokes tools and takes their callbacks. */
export class Runtime {
  private constructor(
    private readonly options: RuntimeOptions,
    private readonly listener: CallbackListener,
  ) {}

  /** @throws ProtocolCliError `port-in-use`. */
  static async start(options: RuntimeOptions): Promise<Runtime> {
    return new Runtime(options, await startCallbackListener(options.log, options.history, options.listener));
  }

  /** The whole invocation as it will be sent, with a callback URL of its own; `token` is the secret in that. */
  address(call: Omit<Invocation, 'callback_url'>): {
    readonly invocation: Invocation;
    readonly token: string;
  } {
    const { url, token } = this.listener.addressFor(call.id);
    return { invocation: { ...call, callback_url: url }, token };
  }

  /** Sends an addressed invocation and waits until the call is settled or left. */
  async invoke(wire: Wire, call: Call): Promise<Exchange> {
    const { log, history, clock } = this.options;
    const { endpoint, invocation, retries, lenientAck: lenient } = call;
    const key = invocation.id;
    const abort = new AbortController();
    const settled = settlement(log, history, clock, { ...call, key });
    const sent = dispatch(wire, { key, endpoint, invocation, retries, lenient, signal: abort.signal });
    await settled;
    const stop = clock.after(ACK_GRACE_MS, () => abort.abort());
    if (history.exchanges.get(key)?.settled?.by !== 'result') abort.abort();
    await sent;
    stop();
    return this.#exchange(key);
  }

  #exchange(key: string): Exchange {
    const exchange = this.options.history.exchanges.get(key);
    if (!exchange) throw new Error('the history must be subscribed to the log before the runtime starts');
    return exchange;
  }

  close(): Promise<void> {
    return this.listener.close();
  }
}
