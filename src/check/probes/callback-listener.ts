import { setMaxListeners } from 'node:events';
import type { Log } from '../../events/log.js';
import type { RecordedRequest } from '../../events/record-request.js';
import { SecretPaths } from '../../http/node-client.js';
import type { Reply } from '../../http/request-body.js';
import { type Callback, type CallbackType, readCallback } from '../../protocol/callbacks.js';
import {
  type Arrived,
  CALLBACK_PATH,
  type ListenerOptions,
  recordCallback,
  serveCallbacks,
} from '../../runtime/callback-server.js';
import type { Clock } from '../../system/drafts.js';
import { bytesText } from '../../util/json-diagnosis.js';

/** What may be taken: a tool that needs more is broken, or means harm (threats, row 15). */
interface Most {
  readonly callbacks: number;
  readonly bytes: number;
}

/** The callbacks of one call. */
const OF_A_CALL: Most = { callbacks: 200, bytes: 64 * 1024 * 1024 };
/** Those of all calls together, since all of them are kept to be judged. */
const OF_A_RUN: Most = { callbacks: 5_000, bytes: 256 * 1024 * 1024 };
/** Posts to an unknown callback address. */
const OF_STRAYS: Most = { callbacks: 1_000, bytes: Number.POSITIVE_INFINITY };

/** Whose callbacks they are, for people; and for the log. */
interface Whose {
  readonly words: string;
  readonly calls?: string[];
}

/** Counts what comes, and says once where it was too much. */
export class Quota {
  #callbacks = 0;
  #bytes = 0;

  constructor(
    private readonly log: Log,
    private readonly most: Most,
    private readonly whose: Whose,
  ) {}

  /** @param size of one more callback, in bytes */
  admits(size: number): boolean {
    const wasFull = this.#isFull();
    this.#callbacks++;
    this.#bytes += size;
    if (!wasFull && this.#isFull()) this.#tell();
    return !this.#isFull();
  }

  #tell(): void {
    const { callbacks, bytes } = this.most;
    const { words, calls } = this.whose;
    const most = Number.isFinite(bytes)
      ? `${callbacks} callbacks, or ${bytesText(bytes)},`
      : `${callbacks} posts`;
    const message = `more than ${most} came ${words}; the rest is ignored`;
    this.log.emit({ kind: 'warned', ...(calls && { calls }), message });
  }

  #isFull(): boolean {
    return this.#callbacks > this.most.callbacks || this.#bytes > this.most.bytes;
  }
}

/** How long things are waited for, and what ends all waiting. */
export interface WaitOptions {
  readonly clock: Clock;
  /** Ends every wait at once. */
  readonly signal: AbortSignal;
}

/** Waits at most `ms`; returns whether the promise resolved in time. */
export async function arrivedWithin(
  { clock, signal }: WaitOptions,
  ms: number,
  coming: Promise<unknown>,
): Promise<boolean> {
  let stop = () => {};
  const over = new Promise<false>(resolve => {
    const end = () => resolve(false);
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
    stop = () => {
      cancel();
      signal.removeEventListener('abort', end);
    };
    if (signal.aborted) end();
  });
  try {
    return await Promise.race([coming.then(() => true), over]);
  } finally {
    stop();
  }
}

/** Lets time pass. */
export async function pause(options: WaitOptions, ms: number): Promise<void> {
  await arrivedWithin(options, ms, NEVER);
}

const NEVER = new Promise<never>(() => {});

/** Aborted with the first of them. Everything under way listens to it, which Node would take for a leak. */
export function anySignal(...signals: AbortSignal[]): AbortSignal {
  const heard = AbortSignal.any(signals);
  setMaxListeners(0, heard);
  return heard;
}

/** What a callback is answered: a status; 200 after a while; nothing for a while, and then a broken connection; that at once. */
export type Answering = number | 'slow' | 'hang' | 'reset';

interface Hanging extends WaitOptions {
  /** Until a callback that hangs is cut off, where its sender does not give up before. */
  readonly hangMs: number;
}

interface Unanswered {
  readonly recorded: RecordedRequest;
  readonly arrived: Arrived;
}

const SLOW_MS = 1_000;

/** Answers a callback, or does not, and tells the log which. */
async function answer(
  log: Log,
  hanging: Hanging,
  { recorded, arrived }: Unanswered,
  answering: Answering,
): Promise<Reply> {
  if (answering === 'slow') await pause(hanging, SLOW_MS);
  if (answering === 'hang' || answering === 'reset') {
    const isGone = answering === 'hang' && (await arrivedWithin(hanging, hanging.hangMs, gone(arrived)));
    recorded.broken('answer', isGone ? 'ECONNRESET' : 'ABORTED');
    return 'reset';
  }
  const status = answering === 'slow' ? 200 : answering;
  const kept = await log.kept().then(
    () => status,
    () => 503,
  );
  recorded.answered(kept);
  return { status: kept };
}

function gone({ onGone }: Arrived): Promise<void> {
  return new Promise(resolve => onGone?.(resolve));
}

/** A callback that came to the address of one call. */
export interface ReceivedCallback {
  readonly leg: string;
  /** Null if it is invalid. */
  readonly message: Callback | null;
  readonly sha256: string;
  /** Whether it was answered 200: the tool must not send it again. */
  readonly isTaken: boolean;
}

/** The callbacks of one call, and the subscribers to new ones. */
export class Inbox {
  readonly #callbacks: ReceivedCallback[] = [];
  #readers: readonly ((callback: ReceivedCallback) => void)[] = [];

  get callbacks(): readonly ReceivedCallback[] {
    return this.#callbacks;
  }

  put(callback: ReceivedCallback): void {
    this.#callbacks.push(callback);
    for (const read of this.#readers) read(callback);
  }

  /** Calls `read` for every callback from now on. */
  subscribe(read: (callback: ReceivedCallback) => void): () => void {
    this.#readers = [...this.#readers, read];
    return () => {
      this.#readers = this.#readers.filter(each => each !== read);
    };
  }

  /** Resolves when `isEnough` returns true, which may be at once. */
  until(isEnough: (callbacks: readonly ReceivedCallback[]) => boolean): Promise<void> {
    if (isEnough(this.#callbacks)) return Promise.resolve();
    return new Promise(resolve => {
      const unsubscribe = this.subscribe(() => {
        if (!isEnough(this.#callbacks)) return;
        unsubscribe();
        resolve();
      });
    });
  }
}

/** Whether at least `times` callbacks of a type arrived. */
export function hasReceived(
  type: CallbackType,
  times = 1,
): (callbacks: readonly ReceivedCallback[]) => boolean {
  return callbacks => callbacks.filter(({ message }) => message?.type === type).length >= times;
}

/** Whether it starts a subscription. */
export function isSubscription({ message }: ReceivedCallback): boolean {
  return message?.type === 'tool_result' && message.subscription === true;
}

/** Whether a callback came that was answered 200. */
export function isTaken(callbacks: readonly ReceivedCallback[]): boolean {
  return callbacks.some(callback => callback.isTaken);
}

/** A call, as the listener knows it. */
interface Listening {
  readonly key: string;
  readonly thread: string;
  /** Of its callbacks, one after the other; the last one from then on. */
  readonly answers: readonly Answering[];
  /** Whether its invocation is answered. */
  readonly acknowledged: Promise<unknown>;
}

/** What a call is given to be called back at. */
interface Address {
  readonly url: string;
  readonly inbox: Inbox;
}

export interface ProbeListener {
  open(call: Listening): Address;
  close(): Promise<void>;
}

/** A tool that waits for the answer to its result has not acknowledged first (TOOL-ACK): so long we let it prove that. */
const MOST_ACK_MS = 200;

interface Place extends Listening {
  readonly inbox: Inbox;
  readonly quota: Quota;
  answered: number;
}

/**
 * Takes the callbacks of the calls of a check, answers each as it is told, and records all of it. A call is known by the token in its
 * address, whatever a tool made of the rest (TOOL-OPAQUE).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startProbeListener(
  log: Log,
  options: ListenerOptions,
  settings: Hanging,
): Promise<ProbeListener> {
  const paths = new SecretPaths<Place>(CALLBACK_PATH);
  const addresses = { resolve: (path: string) => paths.resolve(withoutRest(path)) };
  const closing = new AbortController();
  const hanging = { ...settings, signal: anySignal(settings.signal, closing.signal) };
  const ofRun = new Quota(log, OF_A_RUN, { words: 'in all' });
  const ofStrays = new Quota(log, OF_STRAYS, { words: 'that were refused, or to a wrong address' });
  const server = await serveCallbacks(log, addresses, options, {
    take: (place, arrived) => {
      const { size } = arrived.body;
      const isAdmitted = place.quota.admits(size) && ofRun.admits(size);
      return isAdmitted ? receive(log, hanging, place, arrived) : Promise.resolve({ status: 429 });
    },
    callsOf: ({ key }) => [key],
    isTold: () => ofStrays.admits(0),
  });
  return {
    open(call) {
      const inbox = new Inbox();
      const quota = new Quota(log, OF_A_CALL, { words: 'for one call', calls: [call.key] });
      const { path } = paths.issue({ ...call, inbox, quota, answered: 0 });
      return { url: server.urlOf(path), inbox };
    },
    close() {
      closing.abort();
      return server.close();
    },
  };
}

/** The secret part of a path alone. */
function withoutRest(path: string): string {
  const [known = path] = /^\/callback\/[\w-]{43}/.exec(path) ?? [];
  return known;
}

async function receive(log: Log, hanging: Hanging, place: Place, arrived: Arrived): Promise<Reply> {
  const { key, thread, inbox, answers, acknowledged } = place;
  const { body } = arrived;
  const recorded = recordCallback(log, { calls: [key], thread }, arrived);
  const reading = readCallback(body.json);
  const message = reading.ok ? reading.message : null;
  const planned = answers[Math.min(place.answered++, answers.length - 1)] ?? 200;
  if (message?.type === 'tool_result') await arrivedWithin(hanging, MOST_ACK_MS, acknowledged);
  const reply = await answer(log, hanging, { recorded, arrived }, message || planned !== 200 ? planned : 400);
  const isTaken = reply !== 'reset' && reply.status === 200;
  inbox.put({ leg: recorded.leg, message, sha256: body.sha256, isTaken });
  return reply;
}
