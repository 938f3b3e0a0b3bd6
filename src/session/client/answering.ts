import type { Answer, Feature } from '../../dialects/dialect.js';
import { sessionDialect } from '../../dialects/session.js';
import { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import { systemClock } from '../../system/clock.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import { createRedactor } from '../../util/redact.js';
import { foreignWords, isRecord } from '../../util/values.js';
import { type Answerer, answeredCall, clientError, type PendingCall } from './pending-calls.js';
import { PlatformSession, type SessionConnection, sessionUrl } from './platform-session.js';

/** A call with its answer in the posted form. */
interface Settled {
  readonly call: PendingCall;
  /** `tool_result` or `error_event`. */
  readonly kind: string;
  /** JSON. */
  readonly bytes: Uint8Array;
  /** Parts of the answer that this wire cannot carry. */
  readonly losses: readonly string[];
}

/** Features that this wire is not expected to carry. */
const FOR_THE_MODEL: ReadonlySet<Feature> = new Set([
  'images',
  'other content',
  'structured content',
  'subscription',
]);

/** Writes the answer, with the whole `tool_req` (seed 001); an error if it cannot be written as JSON. */
function settle(call: PendingCall, answer: Answer): Settled {
  try {
    return written(call, answer);
  } catch (error) {
    return written(call, clientError(call, `the result cannot be written as JSON: ${reasonOf(error)}`));
  }
}

function written(call: PendingCall, answer: Answer): Settled {
  const { body, warnings } = sessionDialect.write({ ...answer, call: answeredCall(call) });
  const fields = isRecord(body) ? body : {};
  if ('result' in fields && JSON.stringify(fields['result']) === undefined)
    throw new TypeError(`JSON has nothing for a ${typeof fields['result']}`); // JSON.stringify would omit it
  return {
    call,
    kind: foreignWords(fields['kind']),
    bytes: Buffer.from(JSON.stringify(body)),
    losses: warnings.filter(({ feature }) => FOR_THE_MODEL.has(feature)).map(({ message }) => message),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n');
  return messageOf(error);
}

/** Maximum size in bytes; platforms refuse larger bodies. */
const MAX_BODY = 5 * 1024 * 1024;

const BATCH = ['{"type":"batch","results":[', ']}'] as const;

/** Groups the results in order into as few bodies as possible. A result that is too large gets a group of its own. */
export function groupsOf<T extends Pick<Settled, 'bytes'>>(
  settled: readonly T[],
  maxBytes = MAX_BODY,
): T[][] {
  const groups: T[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of settled) {
    size += each.bytes.length + 1;
    if (size <= maxBytes) groups.at(-1)?.push(each);
    else {
      groups.push([each]);
      size = BATCH.join('').length + each.bytes.length;
    }
  }
  return groups;
}

/** A plain object for one call, a batch for several. */
export function bodyOf(settled: readonly Pick<Settled, 'bytes'>[]): Uint8Array {
  const [only] = settled;
  if (only && settled.length === 1) return only.bytes;
  const pieces = settled.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return Buffer.concat([Buffer.from(BATCH[0]), ...pieces, Buffer.from(BATCH[1])]);
}

/** Maximum number of lost posts in a row, and of requests by the platform to wait. */
const MAX = { losses: 5, waits: 10 };

/**
 * Posts each answer once (platforms). A lost post is repeated only for calls that are still pending; a refused answer does not block
 * others.
 */
class ResultsPoster {
  /** Keys of answers that could not be posted yet. */
  readonly #later = new Set<string>();

  constructor(private readonly session: PlatformSession) {}

  /**
   * Returns the keys of finished answers: accepted, or no longer needed. The others were refused while the session was not waiting;
   * they may be posted again once it waits.
   * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
   */
  async post(settled: readonly Settled[]): Promise<string[]> {
    this.#later.clear();
    for (const group of groupsOf(settled.map(each => this.#fitting(each)))) await this.#deliver(group);
    return settled.map(({ call }) => call.key).filter(key => !this.#later.has(key));
  }

  async #deliver(settled: readonly Settled[]): Promise<void> {
    const tries = { losses: 0, waits: 0 };
    let left = settled;
    for (let attempt = 1; left.length > 0; attempt++) left = await this.#postOnce(left, attempt, tries);
  }

  /** Returns the results that must be posted again. */
  async #postOnce(
    settled: readonly Settled[],
    attempt: number,
    tries: { losses: number; waits: number },
  ): Promise<readonly Settled[]> {
    const { session } = this;
    const keys = settled.map(({ call }) => call.key);
    const posted = await session.post(bodyOf(settled), keys, attempt);
    switch (posted.kind) {
      case 'accepted':
        return [];
      case 'lost':
        if (++tries.losses >= MAX.losses) throw posted.error;
        await session.pause(session.failureMs(tries.losses));
        return this.#stillPending(settled);
      case 'busy':
        if (++tries.waits > MAX.waits) throw posted.error;
        await session.pause(posted.pauseMs);
        return settled;
      case 'refused':
        if (posted.status === 413) return this.#oneByOne(settled, posted.error);
        if (posted.status === 422) return this.#afterInvalid(settled, posted.error);
        throw posted.error;
    }
  }

  /** If some answers were refused because their calls are not pending any more, the others can be posted again. */
  async #afterInvalid(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const still = await this.#stillPending(settled);
    const gone = settled.length - still.length;
    if (gone > 0) {
      this.session.warn(`calls that were not pending any more when their answers were posted: ${gone}`);
      return still;
    }
    if (this.session.isAwaiting) return this.#oneByOne(settled, refusal);
    for (const { call } of still) this.#later.add(call.key);
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

  #fitting(settled: Settled): Settled {
    const { bytes, kind } = settled;
    if (bytes.length <= MAX_BODY) return settled;
    const what = kind === 'error_event' ? 'error' : 'result';
    const sizes = `it has ${bytes.length} bytes; the maximum is ${MAX_BODY} (5 MiB)`;
    return this.#replaced(settled, `the ${what} is too large: ${sizes}`);
  }

  #replaced({ call }: Settled, message: string): Settled {
    this.session.warn(`${call.tool}: ${message}`, [call.key]);
    return reported(this.session, written(call, clientError(call, message)));
  }

  async #stillPending(settled: readonly Settled[]): Promise<readonly Settled[]> {
    await this.session.look(0);
    const keys = new Set(this.session.listed.map(({ key }) => key));
    return settled.filter(({ call }) => keys.has(call.key));
  }
}

/** Logs the answer, and what is lost in it. */
function reported(session: PlatformSession, settled: Settled): Settled {
  const { log, thread } = session.connection;
  const { call, losses, bytes } = settled;
  log.emit({ kind: 'answered', by: 'client', thread, calls: [call.key], body: new Content(bytes) });
  for (const message of losses) session.warn(`${call.tool}: ${message}`, [call.key]);
  return settled;
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
  return value => (isSecret ? (redact(value) as typeof value) : value);
}

/** How a session ended, or its last state on a timeout; without the key. */
export interface SessionEnd {
  readonly id: string;
  readonly status: string;
  /** False after a timeout. */
  readonly isSettled: boolean;
  readonly error: string | null;
  /** The agent's final answer as JSON; undefined without one. */
  readonly answer: unknown;
}

/** Maximum duration of a long poll (platforms). */
const LONG_POLL_MS = 20_000;

/** Minimum time between two polls of a platform that answers at once. */
const MIN_POLL_MS = 500;

/** Poll interval while answers could not be posted: no event reports that the session waits again. */
const RECHECK_MS = 1_000;

/**
 * Answers the calls of a session until it settles: pending calls are answered concurrently and posted in one body (platforms).
 * @param waitMs maximum time without new events; 0 waits forever
 * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
 */
export async function answering(
  given: SessionConnection,
  answerer: Answerer,
  waitMs: number,
): Promise<SessionEnd> {
  const redact = keyRedactor(given.key);
  const log: Log = { ...given.log, emit: fact => given.log.emit(redact(fact)) };
  const session = new PlatformSession({ ...given, log });
  const { clock, thread } = given;
  const poster = new ResultsPoster(session);
  const done = new Set<string>();
  const ready = new Map<string, Settled>(); // not posted yet
  const answerAll = async (due: readonly PendingCall[]) => {
    const open = due.filter(({ key }) => !ready.has(key));
    for (const settled of await answersTo(session, answerer, open)) ready.set(settled.call.key, settled);
    for (const key of await poster.post(due.flatMap(({ key }) => ready.get(key) ?? []))) {
      done.add(key);
      ready.delete(key);
    }
  };
  await session.look(0);
  let newsAt = clock.now();
  while (!session.isSettled) {
    const due = session.pending.filter(({ key }) => !done.has(key));
    if (due.length > 0) {
      await answerAll(due);
      newsAt = clock.now();
      continue; // posting may have read new events
    }
    const left = waitMs === 0 ? Number.POSITIVE_INFINITY : newsAt + waitMs - clock.now();
    if (left <= 0) {
      log.emit({ kind: 'expired', what: 'timeout', afterMs: waitMs, thread });
      break;
    }
    const isHeldUp = session.listed.some(({ key }) => ready.has(key));
    if (await waitForNews(session, isHeldUp ? Math.min(left, RECHECK_MS) : left)) newsAt = clock.now();
  }
  const { status, isSettled, error, answer } = session;
  return redact({ id: thread, status, isSettled, error, answer });
}

async function waitForNews(session: PlatformSession, ms: number): Promise<boolean> {
  const { clock } = session.connection;
  const over = new AbortController();
  const began = clock.now();
  const cancel = ms < LONG_POLL_MS ? clock.after(ms, () => over.abort()) : () => {};
  const seconds = Math.ceil(Math.min(ms, LONG_POLL_MS) / 1_000);
  const isNew = await session.look(seconds, over.signal).finally(cancel);
  const tooSoon = MIN_POLL_MS - (clock.now() - began);
  if ((!isNew || session.isEndless) && tooSoon > 0) await session.pause(Math.min(tooSoon, ms));
  return isNew;
}

/** @throws ProtocolCliError `interrupted`, without waiting for tools that ignore the signal. */
function answersTo(
  session: PlatformSession,
  answerer: Answerer,
  due: readonly PendingCall[],
): Promise<Settled[]> {
  const { signal } = session.connection;
  const answers = due.map(async call => {
    const answer =
      call.fault === undefined ? await answerOf(answerer, call, signal) : clientError(call, call.fault);
    const settled = settle(call, answer);
    return signal.aborted ? settled : reported(session, settled);
  });
  return session.race(Promise.all(answers));
}

async function answerOf(answerer: Answerer, call: PendingCall, signal: AbortSignal): Promise<Answer> {
  try {
    return await answerer.answer(call, { signal });
  } catch (error) {
    return clientError(call, reasonOf(error));
  }
}

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
 * @throws ProtocolCliError `usage`, `unreachable`, `refused-address`, `platform-refused`, `bad-answer`, `interrupted`.
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
