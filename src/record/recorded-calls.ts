import { createHash } from 'node:crypto';
import type { HttpClient } from '../http/client.js';
import type { Clock } from '../system/drafts.js';
import { RecentMap } from '../util/json-diagnosis.js';

/** An invocation that was passed on. */
export interface RecordedCall {
  /** Names it in events: its id where it has one that no other thread uses. */
  readonly key: string;
  readonly thread: string | undefined;
  /** Where its callbacks go on to, as the runtime gave it (TOOL-OPAQUE). */
  readonly callbackUrl: string;
  /** Our base URL as its runtime reaches us. */
  readonly runtimeBase: string;
}

/** Calls and questions: of those of long ago nobody asks. */
export const REMEMBERED = 50_000;
/** Of a URL that is remembered, in characters: what is longer is no address that anybody uses. */
export const LONGEST_URL = 8 * 1024;
/** Of an id, or a thread. */
const LONGEST_NAME = 1024;

/** What is short enough to be the name of a call or of a thread; undefined for anything else. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= LONGEST_NAME ? value : undefined;
}

/** Keys for calls by their thread and id, both of them foreign: the same call again has the same key. */
export class CallKeys {
  readonly #keys = new RecentMap<string, string>(REMEMBERED);
  readonly #taken = new RecentMap<string, true>(REMEMBERED);
  #count = 0;

  /** Of a call that comes in. */
  keyFor(thread: unknown, id: unknown): string {
    const known = this.find(thread, id);
    if (known !== undefined) return known;
    const own = nameOf(id) || undefined;
    const key = own !== undefined && !this.#taken.get(own) ? own : this.#fresh();
    this.#taken.set(key, true);
    if (typeof id === 'string') this.#keys.set(digestOf(thread, id), key);
    return key;
  }

  /** Of a call that came in. */
  find(thread: unknown, id: unknown): string | undefined {
    return typeof id === 'string' ? this.#keys.get(digestOf(thread, id)) : undefined;
  }

  #fresh(): string {
    let key: string;
    do key = `recorded-${++this.#count}`;
    while (this.#taken.get(key));
    return key;
  }
}

/** They may be as long as a message. */
function digestOf(thread: unknown, id: string): string {
  const name = JSON.stringify([typeof thread === 'string' ? thread : null, id]);
  return createHash('sha256').update(name).digest('base64');
}

/**
 * Answers on the last stretch of their way. Whoever has answered may say the next thing at once: it must not come in before the answer
 * does, or a callback would seem to have been sent before its acknowledgement (TOOL-ACK).
 */
export class Handovers {
  readonly #due = new Map<string, Promise<void>>();

  /** An answer is on its way there. Returns how to say that it was handed over. */
  begin(lane: string): () => void {
    let handOver = () => {};
    const handed = new Promise<void>(resolve => {
      handOver = resolve;
    });
    const due: Promise<void> = Promise.all([this.#due.get(lane), handed]).then(() => this.#forget(lane, due));
    this.#due.set(lane, due);
    return () => handOver();
  }

  /** Resolves once all that is on its way there by now was handed over. */
  async over(lane: string): Promise<void> {
    await new Promise(setImmediate); // an answer that came in the same moment may not have been read yet
    await this.#due.get(lane);
  }

  #forget(lane: string, due: Promise<void>): void {
    if (this.#due.get(lane) === due) this.#due.delete(lane);
  }
}

/** What a recorder is told. */
export interface RecorderOptions {
  /** Of the tool: the base of its server, http or https. */
  readonly url: string;
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Host names that requests may use besides the loopback's. */
  readonly allowHosts?: readonly string[];
  /** Origins that callbacks may go to besides loopback. */
  readonly allowCallbacks?: readonly string[];
  /** How the tool reaches us, without a slash at the end; our own address unless told. */
  readonly callbackBase?: string;
  /** Bytes of a message. */
  readonly maxBody?: number;
  /** How long what is on its way may go on at the end, in ms. */
  readonly drainMs?: number;
  /** What passes messages on; one made for throughput unless told. */
  readonly client?: () => Promise<HttpClient>;
  readonly clock?: Clock;
}

/** What holds where nobody says otherwise; the command's help tells the same figures. */
export const DEFAULTS = { maxBody: 64 * 1024 * 1024, drainMs: 5_000 } as const;
