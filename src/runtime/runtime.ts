import { Content } from '../events/content.js';
import { ACK_TOLERANCE_MS, type Arrival, type Exchange } from '../events/exchange.js';
import type { History } from '../events/history.js';
import { judge } from '../events/judge-callback.js';
import type { Log } from '../events/log.js';
import { type HttpAnswer, type ReadLimit, TransportError } from '../http/client.js';
import { SecretPaths } from '../http/node-client.js';
import type { Answer } from '../http/request-body.js';
import { retrying } from '../http/retry.js';
import { readCallback } from '../protocol/callbacks.js';
import { type Invocation, invocationSchema } from '../protocol/read-invocation.js';
import { validate } from '../protocol/validate.js';
import type { Clock } from '../system/drafts.js';
import { ProtocolCliError } from '../util/errors.js';
import { readJson } from '../util/json.js';
import {
  type Arrived,
  answerCallback,
  CALLBACK_PATH,
  type ListenerOptions,
  serveCallbacks,
} from './callback-server.js';
import { readAcknowledgement, send, settlement, type Wire } from './notices.js';

/** So long that whoever acknowledges only once its result is answered is told from one whose 200 is under way. */
const MOST_MS = 2 * ACK_TOLERANCE_MS;

/**
 * Resolves once the call's dispatch is answered, and after 200 ms in any case; null where it is answered. A result is answered only
 * then: the two travel on connections of their own, and a tool that waits for the answer has not acknowledged first (TOOL-ACK).
 */
export function acknowledgementWait(
  log: Log,
  history: History,
  clock: Clock,
  key: string,
): Promise<void> | null {
  const isOver = () => !isUnanswered(history.exchanges.get(key));
  if (isOver()) return null;
  return new Promise(resolve => {
    const finish = () => {
      cancel();
      unsubscribe();
      resolve();
    };
    const cancel = clock.after(MOST_MS, finish);
    const unsubscribe = log.subscribe(() => isOver() && finish());
  });
}

function isUnanswered(exchange: Exchange | undefined): boolean {
  const last = exchange?.attempts.at(-1);
  return last !== undefined && last.endedAt === undefined;
}

export interface CallbackListener {
  /** A callback URL for one call; `token` is the secret in it. */
  addressFor(key: string): { readonly url: string; readonly token: string };
  close(): Promise<void>;
}

/**
 * Takes callbacks of our own calls: address, schema, match; then the log, then the answer (RT-VALIDATE, RT-MATCH).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startCallbackListener(
  log: Log,
  history: History,
  clock: Clock,
  options: ListenerOptions,
): Promise<CallbackListener> {
  const addresses = new SecretPaths<string>(CALLBACK_PATH);
  const server = await serveCallbacks(log, addresses, options, {
    take: (key, arrived) => receive({ log, history, clock }, key, arrived),
    callsOf: key => [key],
  });
  return {
    addressFor(key) {
      const { token, path } = addresses.issue(key);
      return { token, url: server.urlOf(path) };
    },
    close: () => server.close(),
  };
}

interface Desk {
  readonly log: Log;
  readonly history: History;
  readonly clock: Clock;
}

/** Judged before it is a fact, since the answer must be what the fold will say of it too. */
async function receive({ log, history, clock }: Desk, key: string, arrived: Arrived): Promise<Answer> {
  const exchange = history.exchanges.get(key);
  if (!exchange) return { status: 404 };
  const { body } = arrived;
  const verdict = judge(exchange, readCallback(body.json), body.sha256);
  const concerns = { calls: [key], thread: exchange.invocation.group_id };
  const ready = verdict.kind === 'settles' ? acknowledgementWait(log, history, clock, key) : null;
  return answerCallback(log, concerns, arrived, verdict, ready);
}

/** What a status says about an invocation. */
type Acknowledgement = 'accepted' | 'retry' | 'refused';

/**
 * 200 is the acknowledgement, nothing else is (RT-NON200). A 5xx is retried (RT-RETRY); a 3xx or 4xx never (RT-NORETRY).
 * `lenient` takes any 2xx, for tools that mean well.
 */
export function judgeAcknowledgement(status: number, lenient: boolean): Acknowledgement {
  if (status === 200 || (lenient && status >= 200 && status < 300)) return 'accepted';
  return status >= 500 ? 'retry' : 'refused';
}

/** All tries together end within this time. */
const RETRY_WITHIN_MS = 2_000;
const EXCERPT_BYTES = 4 * 1024;

interface Dispatch {
  readonly key: string;
  readonly endpoint: string;
  readonly invocation: Invocation;
  readonly retries: number;
  readonly lenient: boolean;
  /** Whether the tool has called back: then it has the invocation, whatever it answers (RT-PENDING). */
  readonly hasCalledBack: () => boolean;
  readonly signal: AbortSignal;
}

class NotAccepted extends Error {
  constructor(readonly again: boolean) {
    super('the invocation was not accepted');
  }
}

/**
 * POSTs the invocation until it is acknowledged or refused, and tells the log. Resolves in either case: what it came to
 * follows from the events. Only unreachable tools and 5xx are tried again (RT-RETRY, RT-NORETRY), and none that has called back.
 */
export async function dispatch(wire: Wire, call: Dispatch): Promise<void> {
  const { retries, hasCalledBack, signal } = call;
  try {
    await retrying(attempt => post(wire, call, attempt), {
      retries,
      within: RETRY_WITHIN_MS,
      shouldRetry: error => !hasCalledBack() && mayBeSentAgain(error),
      signal,
    });
  } catch (error) {
    if (!(error instanceof NotAccepted || error instanceof TransportError || signal.aborted)) throw error;
    if (!signal.aborted && !hasCalledBack())
      wire.log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [call.key] });
  }
}

async function post(
  wire: Wire,
  { key, endpoint, invocation, lenient, signal }: Dispatch,
  attempt: number,
): Promise<void> {
  const answer = await send(
    wire,
    { purpose: 'invocation', attempt, calls: [key], thread: invocation.group_id },
    {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(invocation)),
      read: readBeginning,
      signal,
      timeoutMs: 0, // the call's own timeout ends it
    },
  );
  const acknowledgement = judgeAcknowledgement(answer.status, lenient);
  if (acknowledgement !== 'accepted') throw new NotAccepted(acknowledgement === 'retry');
}

function mayBeSentAgain(error: unknown): boolean {
  if (error instanceof NotAccepted) return error.again;
  return error instanceof TransportError && error.phase !== 'address';
}

/** That of a refusal helps a person; that of an acknowledgement tells that there is one. */
function readBeginning(status: number, headers: HttpAnswer['headers']): ReadLimit {
  return status === 200 ? readAcknowledgement(status, headers) : { maxBytes: EXCERPT_BYTES, partial: true };
}

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
