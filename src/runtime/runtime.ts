import { ProtocolCliError } from '../errors.js';
import { Content } from '../exchange/content.js';
import type { Arrival, Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Log } from '../exchange/log.js';
import { type Invocation, invocationSchema } from '../protocol/invocation.js';
import { validate } from '../protocol/validate.js';
import type { Clock } from '../system/clock.js';
import { readJson } from '../text/json.js';
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
  /** See {@link settlement}. */
  readonly waitsForPeople?: boolean;
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
    const { log, history, clock, listener } = options;
    return new Runtime(options, await startCallbackListener(log, history, clock, listener));
  }

  /** The whole invocation as it will be sent, with a callback URL of its own; `token` is the secret in that. */
  address(call: Omit<Invocation, 'callback_url'>): {
    readonly invocation: Invocation;
    readonly token: string;
  } {
    const { url, token } = this.listener.addressFor(call.id);
    return { invocation: { ...call, callback_url: url }, token };
  }

  /** An addressed invocation that is not sent, and why: the exchange it ends in. */
  deny(
    invocation: Invocation,
    { by, reason }: { readonly by: 'person' | 'policy'; readonly reason: string },
  ): Exchange {
    const { operation: tool, id, group_id: thread } = invocation;
    const body = Content.ofJson(invocation);
    this.options.log.emit({ kind: 'denied', by, tool, reason, calls: [id], thread, body });
    return this.#exchange(id);
  }

  /**
   * Sends an addressed invocation and waits until the call is settled or left.
   * @throws ProtocolCliError `invalid-arguments` for what nobody could read back, `usage` for an id that was used before.
   */
  async invoke(wire: Wire, call: Call): Promise<Exchange> {
    const { log, history, clock } = this.options;
    const { endpoint, invocation, retries, lenientAck: lenient } = call;
    const key = invocation.id;
    refuseUnsendable(invocation, history);
    const abort = new AbortController();
    const settled = settlement(log, history, clock, { ...call, key });
    const hasCalledBack = () => history.exchanges.get(key)?.arrivals.some(isTheTools) ?? false;
    const { signal } = abort;
    const sent = dispatch(wire, { key, endpoint, invocation, retries, lenient, hasCalledBack, signal });
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

/** Only who has the invocation knows what is told here: its ids, and where (RT-MATCH). */
function isTheTools({ verdict }: Arrival): boolean {
  return verdict.kind === 'settles' || verdict.kind === 'holds';
}

/** What we could not read ourselves would leave no exchange to wait for (RT-FIELDS, RT-ID). */
function refuseUnsendable(invocation: Invocation, history: History): void {
  if (history.exchanges.has(invocation.id))
    throw new ProtocolCliError('usage', `the id ${JSON.stringify(invocation.id)} was used before`, {
      hint: 'Each call needs an id of its own.',
    });
  const reading = readJson(Buffer.from(JSON.stringify(invocation)));
  const checked = reading.ok
    ? validate(invocationSchema, reading.value)
    : { ...reading, faults: [reading.reason] };
  if (!checked.ok)
    throw new ProtocolCliError('invalid-arguments', 'the invocation cannot be sent', {
      faults: checked.faults,
    });
}
