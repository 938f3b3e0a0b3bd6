import { isDeepStrictEqual } from 'node:util';
import type { Answer, AnsweredCall, Feature } from '../../dialects/dialect.js';
import { sessionDialect } from '../../dialects/session.js';
import { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import { systemClock } from '../../system/clock.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import { exactJson } from '../../util/exact-json.js';
import { LIMITS } from '../../util/limits.js';
import { createRedactor } from '../../util/redact.js';
import { isRecord, stringOrJson } from '../../util/values.js';
import type { PendingCall } from './pending-calls.js';
import { backOffMs, PlatformSession, type PostFailure } from './platform-session.js';
import { sessionUrl } from './session-url.js';

/**
 * Answers the calls of an agent session.
 * @example
 * const refusing: Answerer = {
 *   async answer({ id, tool, native }) {
 *     return { call: { id, tool, request: native }, outcome: { type: 'denied', tool, basis: 'ours' } };
 *   },
 * };
 */
export interface Answerer {
  /**
   * Answers a call. Calls that are pending together are passed concurrently. A thrown error becomes an `error_event` of the client.
   * @param context `signal` is aborted once the answer is not needed any more
   */
  answer(call: PendingCall, context: { readonly signal: AbortSignal }): Promise<Answer>;
}

/** Functions by tool name; each takes the arguments and returns the result. */
export type ToolFunctions = Readonly<
  Record<string, (args: PendingCall['args'], context: { readonly signal: AbortSignal }) => unknown>
>;

/**
 * Creates an answerer from functions; all other tools are unknown.
 * @example
 * const answerer = answerWith({ lookup_order: ({ order_id }) => `order ${order_id}: shipped` });
 */
export function answerWith(functions: ToolFunctions): Answerer {
  const tools = Object.keys(functions).map(name => ({ name }));
  return {
    async answer(call, context) {
      const work = Object.hasOwn(functions, call.tool) ? functions[call.tool] : undefined;
      if (!work) return unknownTool(call, tools);
      const payload = (await work(call.args, context)) ?? null; // this wire has no undefined
      return { call: answeredCall(call), outcome: { type: 'success', basis: 'declared' }, payload };
    },
  };
}

/** The call in the common form; the answer contains the whole original (seed 001). */
export function answeredCall({ id, tool, args, native }: PendingCall): AnsweredCall {
  return { id, tool, args, request: native };
}

/** An error of the client: the tool was not called, or failed to answer. */
function clientError(call: PendingCall, message: string): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'error', message: message.toWellFormed(), origin: 'client', basis: 'ours' },
  };
}

export function unknownTool(call: PendingCall, tools: readonly { readonly name: string }[]): Answer {
  const names = tools.length > 0 ? ` Available: ${tools.map(({ name }) => name).join(', ')}.` : '';
  return clientError(call, `Unknown tool: ${call.tool}.${names}`);
}

/** A call with its answer in the posted form. */
interface Settled {
  readonly call: PendingCall;
  /** `tool_result` or `error_event`. */
  readonly kind: string;
  /** JSON. */
  readonly bytes: Uint8Array;
}

/** Features that this wire is not expected to carry. */
const FOR_THE_MODEL: ReadonlySet<Feature> = new Set([
  'images',
  'other content',
  'structured content',
  'subscription',
]);

interface WrittenAnswer extends Settled {
  /** What the session dialect cannot express. */
  readonly losses: readonly string[];
}

/** Writes the answer, with the whole `tool_req` (seed 001). @throws TypeError if it cannot be written as JSON. */
function written(call: PendingCall, answer: Answer): WrittenAnswer {
  const { body, warnings } = sessionDialect.write({ ...answer, call: answeredCall(call) });
  const fields = isRecord(body) ? body : {};
  if ('result' in fields && JSON.stringify(fields['result']) === undefined)
    throw new TypeError(`JSON has nothing for a ${typeof fields['result']}`); // JSON.stringify would omit it
  return {
    call,
    kind: stringOrJson(fields['kind']),
    bytes: Buffer.from(exactJson(body)),
    losses: warnings.filter(({ feature }) => FOR_THE_MODEL.has(feature)).map(({ message }) => message),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n');
  return messageOf(error);
}

const BATCH = ['{"type":"batch","results":[', ']}'] as const;

/** Groups the results in order into as few bodies as possible. A result that is too large gets a group of its own. */
function groupsOf(settled: readonly Settled[]): Settled[][] {
  const groups: Settled[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of settled) {
    size += each.bytes.length + 1;
    if (size <= LIMITS.sessionBodyBytes.value) groups.at(-1)?.push(each);
    else {
      groups.push([each]);
      size = BATCH.join('').length + each.bytes.length;
    }
  }
  return groups;
}

/** A plain object for one call, a batch for several. */
function bodyOf(settled: readonly Settled[]): Uint8Array {
  const [only] = settled;
  if (only && settled.length === 1) return only.bytes;
  const pieces = settled.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return Buffer.concat([Buffer.from(BATCH[0]), ...pieces, Buffer.from(BATCH[1])]);
}

/** Numbers of posts that were lost or met a failing platform, and of posts that the platform asked to repeat later. */
interface Tries {
  losses: number;
  waits: number;
}

const MAX: Readonly<Tries> = { losses: 5, waits: 10 };

/** Maximum duration of a long poll. */
const LONG_POLL_MS = 20_000;

/** Poll interval while refused answers are kept: no event reports that the session waits again. */
const RECHECK_MS = 1_000;

/** Minimum time between two polls of a platform that answers at once. */
const MIN_POLL_MS = 500;

/**
 * Answers each call once and posts its answer once. A lost post, or one answered 408 or 5xx, is repeated only for calls that are still
 * pending; a refused
 * answer does not block others.
 */
class SessionClient {
  readonly session: PlatformSession;
  readonly #answered = new Set<string>();
  /** Answers that were refused while the session did not wait for any, by call key. */
  readonly #kept = new Map<string, Settled>();

  constructor(
    private readonly connection: PlatformSession['connection'],
    private readonly answerer: Answerer,
  ) {
    this.session = new PlatformSession(connection);
  }

  /** Answers until the session settles, or nothing new came for `waitMs`; 0 waits forever. */
  async run(waitMs: number): Promise<void> {
    const { session, connection } = this;
    const { clock, log, thread } = connection;
    await session.poll(0);
    let newsAt = clock.now();
    while (!session.isSettled) {
      const due = session.pending.filter(({ key }) => !this.#answered.has(key));
      if (due.length > 0) {
        await this.#answer(due);
        newsAt = clock.now();
        continue; // posting may have read new events
      }
      const left = waitMs === 0 ? Number.POSITIVE_INFINITY : newsAt + waitMs - clock.now();
      if (left <= 0) {
        log.emit({ kind: 'expired', what: 'timeout', afterMs: waitMs, thread });
        return;
      }
      const hasKept = session.listed.some(({ key }) => this.#kept.has(key));
      if (await this.#waitForNews(hasKept ? Math.min(left, RECHECK_MS) : left)) newsAt = clock.now();
    }
  }

  async #waitForNews(ms: number): Promise<boolean> {
    const { session } = this;
    const { clock } = this.connection;
    const over = new AbortController();
    const began = clock.now();
    const cancel = ms < LONG_POLL_MS ? clock.after(ms, () => over.abort()) : () => {};
    const seconds = Math.ceil(Math.min(ms, LONG_POLL_MS) / 1_000);
    const isNew = await session.poll(seconds, over.signal).finally(cancel);
    const tooSoon = MIN_POLL_MS - (clock.now() - began);
    if ((!isNew || session.hasHitPageLimit) && tooSoon > 0) await session.sleep(Math.min(tooSoon, ms));
    return isNew;
  }

  /** @throws ProtocolCliError `interrupted`, without waiting for tools that ignore the signal. */
  async #answer(due: readonly PendingCall[]): Promise<void> {
    const { signal } = this.connection;
    const settled = await this.session.race(
      Promise.all(
        due.map(async call => {
          const kept = this.#kept.get(call.key);
          if (kept) return kept;
          const done = await this.#settle(call);
          return signal.aborted ? done : this.#reported(done);
        }),
      ),
    );
    this.#kept.clear();
    for (const group of groupsOf(settled.map(each => this.#fitting(each)))) await this.#deliver(group);
    for (const { key } of due) if (!this.#kept.has(key)) this.#answered.add(key);
  }

  async #settle(call: PendingCall) {
    const { signal } = this.connection;
    let answer: Answer;
    try {
      if (call.fault !== undefined) return written(call, clientError(call, call.fault));
      answer = await this.answerer.answer(call, { signal });
    } catch (error) {
      answer = clientError(call, reasonOf(error));
    }
    try {
      return written(call, answer);
    } catch (error) {
      return written(call, clientError(call, `the result cannot be written as JSON: ${reasonOf(error)}`));
    }
  }

  /** Logs the answer, and what is lost in it. */
  #reported(settled: WrittenAnswer): Settled {
    const { log, thread } = this.connection;
    const { call, losses, bytes } = settled;
    log.emit({ kind: 'answered', by: 'client', thread, calls: [call.key], body: new Content(bytes) });
    for (const message of losses) this.session.warn(`${call.tool}: ${message}`, [call.key]);
    return settled;
  }

  #fitting(settled: Settled): Settled {
    const { bytes, kind } = settled;
    if (bytes.length <= LIMITS.sessionBodyBytes.value) return settled;
    const what = kind === 'error_event' ? 'error' : 'result';
    const sizes = `it has ${bytes.length} bytes; the maximum is ${LIMITS.sessionBodyBytes.value}`;
    return this.#replaced(settled, `the ${what} is too large: ${sizes}`);
  }

  #replaced({ call }: Settled, message: string): Settled {
    this.session.warn(`${call.tool}: ${message}`, [call.key]);
    return this.#reported(written(call, clientError(call, message)));
  }

  /** @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`. */
  async #deliver(settled: readonly Settled[]): Promise<void> {
    const tries: Tries = { losses: 0, waits: 0 };
    let left = settled;
    for (let attempt = 1; left.length > 0; attempt++) {
      const keys = left.map(({ call }) => call.key);
      const failure = await this.session.post(bodyOf(left), keys, attempt);
      if (!failure) return;
      left = await this.#afterFailure(left, failure, tries);
    }
  }

  /** Returns the results that must be posted again. */
  async #afterFailure(
    settled: readonly Settled[],
    { status, error, pauseMs }: PostFailure,
    tries: Tries,
  ): Promise<readonly Settled[]> {
    if (status === 413) return this.#oneByOne(settled, error);
    if (status === 422) return this.#afterInvalid(settled, error);
    if (status === 429) {
      if (++tries.waits > MAX.waits) throw error;
      await this.session.sleep(pauseMs);
      return settled;
    }
    const mayHaveArrived = status === 0 || status === 408 || status >= 500;
    if (!mayHaveArrived || ++tries.losses >= MAX.losses) throw error;
    await this.session.sleep(backOffMs(tries.losses));
    return this.#stillPending(settled);
  }

  /** If some answers were refused because their calls are not pending any more, the others can be posted again. */
  async #afterInvalid(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const { session } = this;
    const still = await this.#stillPending(settled);
    const gone = settled.length - still.length;
    if (gone > 0) {
      session.warn(`calls that were not pending any more when their answers were posted: ${gone}`);
      return still;
    }
    if (session.isAwaiting) return this.#oneByOne(settled, refusal);
    for (const each of still) this.#kept.set(each.call.key, each);
    return [];
  }

  /** Posts each result alone, so that one bad result does not block the others. A single result is replaced by an error. */
  async #oneByOne(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const [only] = settled;
    if (only && settled.length === 1) {
      if (only.kind === 'error_event') throw refusal;
      return [this.#replaced(only, `the result could not be posted: ${refusal.message}`)];
    }
    let first: ProtocolCliError | undefined;
    for (const each of settled)
      await this.#deliver([each]).catch(error => {
        if (!(error instanceof ProtocolCliError && error.code === 'platform-refused')) throw error;
        first ??= error;
      });
    if (first) throw first;
    return [];
  }

  async #stillPending(settled: readonly Settled[]): Promise<readonly Settled[]> {
    await this.session.poll(0);
    const keys = new Set(this.session.listed.map(({ key }) => key));
    return settled.filter(({ call }) => keys.has(call.key));
  }
}

/** Redacts the key in any value: a platform may echo it in a call or a message (threats, row 25). */
function keyRedactor(key: string): <T>(value: T) => T {
  const { text: clean } = createRedactor([key]);
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return clean(value);
    if (Array.isArray(value)) return value.map(redact);
    if (value instanceof Content) {
      const text = Buffer.from(value.bytes).toString('utf8');
      const cleaned = clean(text);
      return cleaned === text ? value : new Content(Buffer.from(cleaned));
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [clean(name), redact(each)]));
  };
  const isSecret = clean(key) !== key; // keys that are too short are not redacted
  return value => {
    const redacted = isSecret ? redact(value) : value;
    return isDeepStrictEqual(redacted, value) ? value : (redacted as typeof value);
  };
}

/**
 * How a session ended, or its last state on a timeout; without the key.
 * @example
 * const isCompleted = ({ isSettled, status }: SessionEnd) => isSettled && status === 'completed';
 */
export interface SessionEnd {
  readonly id: string;
  readonly status: string;
  /** False after a timeout. */
  readonly isSettled: boolean;
  readonly error: string | null;
  /** The agent's final answer as JSON; undefined without one. */
  readonly answer: unknown;
}

/**
 * Answers the calls of a session until it settles: pending calls are answered concurrently and posted in one body.
 * @param waitMs maximum time without new events; 0 waits forever
 * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
 */
export async function answering(
  given: PlatformSession['connection'],
  answerer: Answerer,
  waitMs: number,
): Promise<SessionEnd> {
  const redact = keyRedactor(given.key);
  const log: Log = { ...given.log, emit: fact => given.log.emit(redact(fact)) };
  const client = new SessionClient({ ...given, log }, answerer);
  await client.run(waitMs);
  const { status, isSettled, error, answer } = client.session;
  return redact({ id: given.thread, status, isSettled, error, answer });
}

/**
 * Who answers a session, and for how long.
 * @example
 * const options: AnswerSessionOptions = { key: 'my-key', answerer: answerWith({ ping: () => 'pong' }), waitMs: 30_000 };
 */
export interface AnswerSessionOptions {
  /** API key, sent as the bearer token only to the origin of the URL. */
  readonly key: string;
  readonly answerer: Answerer;
  /** Called with every event. */
  readonly onEvent?: (event: Event) => void;
  /** Maximum time without new events, in ms; default: no limit. */
  readonly waitMs?: number;
  /** Makes the call throw `interrupted` when aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Answers the pending tool calls of an agent session until it settles (seed 001).
 * @param base URL of the platform, without `/api/v2`
 * @throws ProtocolCliError `usage`, `unreachable`, `refused-address`, `platform-refused`, `bad-answer`, `interrupted`
 * @example
 * const answerer = answerWith({ lookup_order: ({ order_id }) => `order ${order_id}: shipped` });
 * const { status, answer } = await answerSession('http://127.0.0.1:3002', '00000000-0000-4000-8000-000000000001', { key: 'my-key', answerer });
 */
export async function answerSession(
  base: string,
  id: string,
  { key, answerer, onEvent, waitMs = 0, signal = new AbortController().signal }: AnswerSessionOptions,
): Promise<SessionEnd> {
  const url = sessionUrl(base, id);
  const clock = systemClock;
  const log = createLog(clock.now);
  if (onEvent) log.subscribe(onEvent);
  const client = createNodeClient();
  try {
    return await answering({ client, log, clock, url, thread: id, key, signal }, answerer, waitMs);
  } finally {
    await client.close();
  }
}
