import { setMaxListeners } from 'node:events';
import type { Log, RecordedRequest } from '../../events/log.js';
import type { Reply } from '../../http/route.js';
import { SecretPaths } from '../../http/secret-paths.js';
import { type Callback, type CallbackType, readCallback } from '../../protocol/callbacks.js';
import {
  type Arrived,
  CALLBACK_PATH,
  type CallbackServer,
  type ListenerOptions,
  recordCallback,
  serveCallbacks,
} from '../../runtime/callback-server.js';
import type { Clock } from '../../system/clock.js';
import { bytesText } from '../../util/text.js';

/** Waits end after their time, or together when the signal aborts. */
export interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Waits at most `ms`; returns whether the promise resolved in time. Without a promise, it only waits. */
export async function within(
  { clock, signal }: WaitOptions,
  ms: number,
  promise: Promise<unknown> = new Promise(() => {}),
): Promise<boolean> {
  let stop = () => {};
  const timeout = new Promise<false>(resolve => {
    const end = () => resolve(false);
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
    stop = () => {
      cancel();
      signal.removeEventListener('abort', end);
    };
    if (signal.aborted) end();
  });
  return Promise.race([promise.then(() => true), timeout]).finally(stop);
}

/** A signal that any number of waits can listen to without a warning from Node. */
export function sharedSignal(...signals: AbortSignal[]): AbortSignal {
  const signal = AbortSignal.any(signals);
  setMaxListeners(0, signal);
  return signal;
}

/** The response to a callback: a status, a late 200, no response until the connection breaks, or a broken connection at once. */
export type Answering = number | 'slow' | 'hang' | 'reset';

const SLOW_MS = 1_000;

/** A tool that waits for the response to its result has not acknowledged the call first (TOOL-ACK), in ms. */
const ACK_WAIT_MS = 200;

/** Limits of the callbacks that the rules use; a tool that sends more is broken or malicious (threats, row 15). */
const CALL_LIMITS = { callbacks: 200, bytes: 64 * 1024 * 1024 };

const RUN_LIMITS = { callbacks: 5_000, bytes: 256 * 1024 * 1024 };

/** Limits of posts to unknown addresses and of refused posts. */
const STRAY_LIMITS = { callbacks: 1_000, bytes: Number.POSITIVE_INFINITY };

/** Counts callbacks, and warns once if there are too many. */
export class Quota {
  #callbacks = 0;
  #bytes = 0;
  #isTold = false;

  /** @param whose what the quota is for, in the warning: `for one call` */
  constructor(
    private readonly log: Log,
    private readonly limits: typeof CALL_LIMITS,
    private readonly whose: string,
    private readonly calls?: string[],
  ) {}

  /** @param size the size of the next callback in bytes */
  admits(size: number): boolean {
    const { callbacks, bytes } = this.limits;
    this.#callbacks++;
    this.#bytes += size;
    if (this.#callbacks <= callbacks && this.#bytes <= bytes) return true;
    if (this.#isTold) return false;
    this.#isTold = true;
    const limits = Number.isFinite(bytes)
      ? `${callbacks} callbacks, or ${bytesText(bytes)},`
      : `${callbacks} posts`;
    const message = `more than ${limits} came ${this.whose}; the rest is ignored`;
    this.log.emit({ kind: 'warned', ...(this.calls && { calls: this.calls }), message });
    return false;
  }
}

/** A callback to the URL of one call. */
export interface ReceivedCallback {
  readonly leg: string;
  readonly at: number;
  /** Null if it is invalid. */
  readonly message: Callback | null;
  readonly sha256: string;
  /** Whether it was answered 200: the tool must not send it again. */
  readonly isAccepted: boolean;
}

/** The callbacks of one call. */
export class Inbox {
  readonly callbacks: ReceivedCallback[] = [];
  readonly #readers = new Set<(callback: ReceivedCallback) => void>();

  put(callback: ReceivedCallback): void {
    this.callbacks.push(callback);
    for (const read of [...this.#readers]) read(callback);
  }

  /** Calls `read` for every callback from now on. */
  subscribe(read: (callback: ReceivedCallback) => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }

  has(...types: readonly CallbackType[]): boolean {
    return this.callbacks.some(({ message }) => message !== null && types.includes(message.type));
  }

  get isSubscription(): boolean {
    return this.callbacks.some(
      ({ message }) => message?.type === 'tool_result' && message.subscription === true,
    );
  }

  /** Resolves when `isEnough` returns true, which may be at once. */
  until(isEnough: (inbox: this) => boolean): Promise<void> {
    if (isEnough(this)) return Promise.resolve();
    return new Promise(resolve => {
      const unsubscribe = this.subscribe(() => {
        if (!isEnough(this)) return;
        unsubscribe();
        resolve();
      });
    });
  }
}

/** A call whose callbacks the listener expects. */
interface ExpectedCall {
  readonly key: string;
  readonly thread: string;
  /** The responses to its callbacks, in order; the last one is repeated. */
  readonly answers: readonly Answering[];
  /** Resolves when its invocation has ended. */
  readonly acknowledged: () => Promise<unknown>;
}

interface OpenCall extends ExpectedCall {
  readonly inbox: Inbox;
  readonly quota: Quota;
  received: number;
}

/**
 * Receives and records the callbacks of a check, and answers them as planned. The token in a URL identifies the call, whatever the tool
 * did with the rest of the URL (TOOL-OPAQUE).
 */
export class ProbeListener {
  readonly #paths = new SecretPaths<OpenCall>(CALLBACK_PATH);
  readonly #closing = new AbortController();
  readonly #waiting: WaitOptions;
  readonly #quota: Quota;
  #server: CallbackServer | undefined;

  /** @param hangMs until a callback that hangs is cut off */
  constructor(
    private readonly log: Log,
    { clock, signal }: WaitOptions,
    private readonly hangMs: number,
  ) {
    this.#waiting = { clock, signal: sharedSignal(signal, this.#closing.signal) };
    this.#quota = new Quota(log, RUN_LIMITS, 'in all');
  }

  /** @throws ProtocolCliError `port-in-use`. */
  async start(options: ListenerOptions): Promise<void> {
    const strays = new Quota(this.log, STRAY_LIMITS, 'that were refused, or to a wrong address');
    const resolve = (path: string) => this.#paths.resolve(/^\/callback\/[\w-]{43}/.exec(path)?.[0] ?? path);
    this.#server = await serveCallbacks(this.log, { resolve }, options, {
      take: (call, arrived) => this.#receive(call, arrived),
      callsOf: ({ key }) => [key],
      isTold: () => strays.admits(0),
    });
  }

  /** Returns the callback URL of a call. */
  open(call: ExpectedCall): { readonly url: string; readonly inbox: Inbox } {
    const inbox = new Inbox();
    const quota = new Quota(this.log, CALL_LIMITS, 'for one call', [call.key]);
    const { path } = this.#paths.issue({ ...call, inbox, quota, received: 0 });
    return { url: this.#server?.urlOf(path) ?? path, inbox };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#server?.close();
  }

  async #receive(call: OpenCall, arrived: Arrived): Promise<Reply> {
    const { key, thread, inbox, answers, acknowledged, quota } = call;
    const { body } = arrived;
    if (!quota.admits(body.size) || !this.#quota.admits(body.size)) return { status: 429 };
    const at = this.#waiting.clock.now();
    const recorded = recordCallback(this.log, { calls: [key], thread }, arrived);
    const reading = readCallback(body.json);
    const message = reading.ok ? reading.message : null;
    const planned = answers[Math.min(call.received++, answers.length - 1)] ?? 200;
    if (message?.type === 'tool_result') await within(this.#waiting, ACK_WAIT_MS, acknowledged());
    const reply = await this.#answer(recorded, arrived, message || planned !== 200 ? planned : 400);
    const isAccepted = reply !== 'reset' && reply.status === 200;
    inbox.put({ leg: recorded.leg, at, message, sha256: body.sha256, isAccepted });
    return reply;
  }

  async #answer(recorded: RecordedRequest, { onGone }: Arrived, answering: Answering): Promise<Reply> {
    if (answering === 'slow') await within(this.#waiting, SLOW_MS);
    const gone = new Promise<void>(resolve => onGone?.(resolve));
    if (answering === 'hang' || answering === 'reset') {
      const isGone = answering === 'hang' && (await within(this.#waiting, this.hangMs, gone));
      recorded.broken('answer', isGone ? 'ECONNRESET' : 'ABORTED');
      return 'reset';
    }
    const status = await this.log.kept().then(
      () => (answering === 'slow' ? 200 : answering),
      () => 503,
    );
    recorded.answered(status);
    return { status };
  }
}
