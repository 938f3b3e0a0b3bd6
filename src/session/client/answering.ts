import type { Answer } from '../../dialects/dialect.js';
import { Content } from '../../events/content.js';
import type { Event, Fact } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import { systemClock } from '../../system/drafts.js';
import { ProtocolCliError } from '../../util/errors.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { createRedactor, writtenForms } from '../../util/redact.js';
import { sessionUrl } from '../answering/session-url.js';
import {
  type Answerer,
  bodiesOf,
  bodyOf,
  clientError,
  MOST_BYTES,
  type PendingCall,
  type Settled,
  settle,
  settleWithError,
  tellAnswered,
} from './pending-calls.js';
import { type Clean, interruptedSession, Platform, refusedBy, SessionWatch } from './platform-client.js';
import { failurePauseMs, judgePost, type PlatformDesk, pause } from './requests.js';

/** How often in a row an answer may be lost, and how often a platform may ask to wait. */
const MOST = { losses: 5, waits: 10 };

/**
 * Brings answers to the platform, each once (platforms): what was lost on the way is posted again only where the session still waits
 * for it, and what one call's answer is refused for holds up no other.
 */
class ResultsPoster {
  /** Keys of what is not done yet. */
  readonly #later = new Set<string>();

  constructor(
    private readonly desk: PlatformDesk,
    private readonly platform: Platform,
    private readonly watch: SessionWatch,
  ) {}

  /**
   * Gives the keys of those that are done: taken, or wanted by nobody any more. The others were refused while the session did not wait,
   * though it never said that they are not pending: they may be posted once it waits again.
   * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
   */
  async post(settled: readonly Settled[]): Promise<string[]> {
    const fitting = settled.map(each => (each.bytes.length > MOST_BYTES ? this.#tooLarge(each) : each));
    this.#later.clear();
    for (const body of bodiesOf(fitting)) await this.#deliver(body.settled);
    return settled.map(({ call }) => call.key).filter(key => !this.#later.has(key));
  }

  async #deliver(settled: readonly Settled[]): Promise<void> {
    const tries = { losses: 0, waits: 0 };
    let left = settled;
    for (let attempt = 1; left.length > 0; attempt++) {
      if (this.desk.signal.aborted) throw interruptedSession();
      left = await this.#postOnce(left, attempt, tries);
    }
  }

  /** @returns what is to be posted again. */
  async #postOnce(
    settled: readonly Settled[],
    attempt: number,
    tries: { losses: number; waits: number },
  ): Promise<readonly Settled[]> {
    const posted = await this.platform.post(bodyOf(settled), attempt);
    if (posted.kind === 'lost') return this.#afterLoss(settled, posted.error, ++tries.losses);
    const { status, headers, detail } = posted;
    const refusal = refusedBy(status, 'the posted results', detail);
    switch (judgePost(status)) {
      case 'taken':
      case 'finished':
        return [];
      case 'busy':
        if (++tries.waits > MOST.waits) throw refusal;
        await this.#pause(this.platform.busyPause(headers, refusal));
        return settled;
      case 'too-large':
        return this.#apart(settled, refusal);
      case 'invalid':
        return this.#afterRefusal(settled, refusal);
      case 'refused':
        throw refusal;
    }
  }

  async #afterLoss(
    settled: readonly Settled[],
    error: ProtocolCliError,
    losses: number,
  ): Promise<readonly Settled[]> {
    if (losses >= MOST.losses) throw error;
    await this.#pause(failurePauseMs(losses));
    return this.#stillPending(settled);
  }

  /** Refused since some were not pending any more, the others are as good as before. */
  async #afterRefusal(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const still = await this.#stillPending(settled);
    if (still.length < settled.length) {
      this.#tellUnwanted(settled.length - still.length);
      return still;
    }
    if (this.watch.isAwaiting) return this.#apart(settled, refusal);
    for (const { call } of still) this.#later.add(call.key);
    return [];
  }

  /** One by one, so that what is wrong with one of them is no reason to lose the others; a result alone becomes an error. */
  async #apart(settled: readonly Settled[], refusal: ProtocolCliError): Promise<readonly Settled[]> {
    const [only, ...others] = settled;
    if (only && others.length === 0) return [this.#inItsPlace(only, refusal)];
    const refusals: ProtocolCliError[] = [];
    for (const each of settled)
      await this.#deliver([each]).catch(error => {
        if (!isRefusal(error)) throw error;
        refusals.push(error);
      });
    if (refusals[0]) throw refusals[0];
    return [];
  }

  /** @throws ProtocolCliError the refusal, where it is an error that was refused. */
  #inItsPlace({ call, kind }: Settled, refusal: ProtocolCliError): Settled {
    if (kind === 'error_event') throw refusal;
    return this.#replaced(call, `the result could not be posted: ${refusal.message}`);
  }

  #tooLarge({ call, kind, bytes }: Settled): Settled {
    const what = kind === 'error_event' ? 'error' : 'result';
    return this.#replaced(
      call,
      `the ${what} is too large: it takes ${bytes.length} bytes, and a body may have ${MOST_BYTES} (5 MiB)`,
    );
  }

  #replaced(call: Settled['call'], message: string): Settled {
    const { log, thread } = this.desk;
    log.emit({ kind: 'warned', thread, calls: [call.key], message: `${call.tool}: ${message}` });
    return tellAnswered(this.desk, settleWithError(call, message));
  }

  #pause(ms: number): Promise<void> {
    const { clock, signal } = this.desk;
    return pause(clock, ms, signal);
  }

  async #stillPending(settled: readonly Settled[]): Promise<readonly Settled[]> {
    await this.watch.look(0);
    const keys = new Set(this.watch.listed.map(({ key }) => key));
    return settled.filter(({ call }) => keys.has(call.key));
  }

  #tellUnwanted(count: number): void {
    const { log, thread } = this.desk;
    const what = count === 1 ? 'an answer that is' : `${count} answers that are`;
    log.emit({ kind: 'warned', thread, message: `the platform was sent ${what} not pending any more` });
  }
}

function isRefusal(error: unknown): error is ProtocolCliError {
  return error instanceof ProtocolCliError && error.code === 'platform-refused';
}

/** The same log, which is never told the key: a platform may give it back, in a call or in words (threats, row 25). */
export function withoutKey(log: Log, key: string): Log {
  const { text: clean } = createRedactor([key]);
  if (clean(key) === key) return log; // too short for a secret
  const forms = writtenForms(key).map(form => Buffer.from(form));
  return {
    ...log,
    emit: fact => log.emit(withCleanBody(withCleanWords(withCleanKeys(fact, clean), clean), forms, clean)),
  };
}

/** Which calls it concerns: a platform names them as it likes. */
function withCleanKeys(fact: Fact, clean: Clean): Fact {
  return 'calls' in fact && fact.calls ? { ...fact, calls: fact.calls.map(clean) } : fact;
}

function withCleanWords(fact: Fact, clean: Clean): Fact {
  switch (fact.kind) {
    case 'warned':
      return { ...fact, message: clean(fact.message) };
    case 'session': {
      const { status, error, answer } = fact;
      return {
        ...fact,
        status: clean(status),
        ...(error !== undefined && { error: clean(error) }),
        ...(answer !== undefined && { answer: cleanJson(answer, clean) }),
      };
    }
    case 'awaiting':
      return {
        ...fact,
        pending: fact.pending.map(call => ({
          ...call,
          key: clean(call.key),
          id: call.id === null ? null : clean(call.id),
          tool_name: clean(call.tool_name),
          args: cleanJson(call.args, clean),
        })),
      };
    case 'response':
      return {
        ...fact,
        headers: Object.fromEntries(
          Object.entries(fact.headers).map(([name, value]) => [clean(name), clean(value)]),
        ),
      };
    default:
      return fact;
  }
}

function withCleanBody(fact: Fact, forms: readonly Buffer[], clean: Clean): Fact {
  if (!('body' in fact) || !fact.body) return fact;
  const bytes = Buffer.from(fact.body.bytes);
  if (!forms.some(form => bytes.includes(form))) return fact;
  return { ...fact, body: new Content(Buffer.from(clean(bytes.toString('utf8')))) };
}

/** The same JSON value, with every text in it clean. */
function cleanJson(value: unknown, clean: Clean): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(each => cleanJson(each, clean));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [clean(name), cleanJson(each, clean)]),
  );
}

/** How a session ended, or that nothing came from it any more; the key is nowhere in it. */
export interface SessionEnd {
  readonly id: string;
  readonly status: string;
  /** False where it was given up, since nothing was new for so long. */
  readonly isSettled: boolean;
  readonly error: string | null;
  /** JSON, what the agent says in the end; undefined where nothing is said. */
  readonly answer: unknown;
}

/** So long a question for news may stay open (platforms). */
const LONG_POLL_MS = 20_000;
/** A platform that answers at once is not asked again at once. */
const LEAST_PACE_MS = 500;
/** Where answers are held up: no event tells that a session waits again. */
const RECHECK_MS = 1_000;

/**
 * Answers the calls of a session until it settles: those of one wait side by side, then one body for all of them (platforms).
 * @param waitMs without news, after which it is given up; 0 waits for ever
 * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
 */
export async function answering(
  { log: open, ...rest }: PlatformDesk,
  answerer: Answerer,
  waitMs: number,
): Promise<SessionEnd> {
  const log = withoutKey(open, rest.key);
  const desk = { ...rest, log };
  const { clock, thread } = desk;
  const platform = new Platform(desk);
  const watch = new SessionWatch(desk, platform);
  const poster = new ResultsPoster(desk, platform, watch);
  const answered = new Set<string>();
  const ready = new Map<string, Settled>(); // and not delivered
  const makeReady = async (due: readonly PendingCall[]) => {
    const unasked = due.filter(({ key }) => !ready.has(key));
    for (const settled of await answersTo(desk, answerer, unasked)) ready.set(settled.call.key, settled);
  };
  const patience = (left: number) =>
    watch.listed.some(({ key }) => ready.has(key)) ? Math.min(left, RECHECK_MS) : left;
  await watch.look(0);
  let newsAt = clock.now();
  while (!watch.isSettled) {
    const due = watch.pending.filter(({ key }) => !answered.has(key));
    if (due.length > 0) {
      await makeReady(due);
      for (const key of await poster.post(due.flatMap(({ key }) => ready.get(key) ?? []))) {
        answered.add(key);
        ready.delete(key);
      }
      newsAt = clock.now();
      continue; // where the way there was not smooth, more is known by now
    }
    const left = waitMs === 0 ? Number.POSITIVE_INFINITY : newsAt + waitMs - clock.now();
    if (left <= 0) {
      log.emit({ kind: 'expired', what: 'timeout', afterMs: waitMs, thread });
      break;
    }
    if (await patientLook(desk, watch, patience(left))) newsAt = clock.now();
  }
  return endOf(watch, thread, rest.key);
}

function endOf({ status, isSettled, error, answer }: SessionWatch, id: string, key: string): SessionEnd {
  const { text: clean } = createRedactor([key]);
  return {
    id,
    status: clean(status),
    isSettled,
    error: error === null ? null : clean(error),
    answer: cleanJson(answer, clean),
  };
}

/** Waits for news, `ms` milliseconds at most. */
async function patientLook(
  { clock, signal }: PlatformDesk,
  watch: SessionWatch,
  ms: number,
): Promise<boolean> {
  const over = new AbortController();
  const began = clock.now();
  const cancel = ms < LONG_POLL_MS ? clock.after(ms, () => over.abort()) : () => {};
  const isNew = await watch.look(Math.ceil(Math.min(ms, LONG_POLL_MS) / 1_000), over.signal).finally(cancel);
  const tooSoon = LEAST_PACE_MS - (clock.now() - began);
  if ((!isNew || watch.isEndless) && tooSoon > 0) await pause(clock, Math.min(tooSoon, ms), signal);
  return isNew;
}

/** @throws ProtocolCliError `interrupted`, without waiting for those who do not heed the signal. */
async function answersTo(
  desk: PlatformDesk,
  answerer: Answerer,
  due: readonly PendingCall[],
): Promise<Settled[]> {
  const { signal } = desk;
  const answers = Promise.all(due.map(call => answerTo(desk, answerer, call)));
  let leave = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    leave = () => reject(interruptedSession());
  });
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  return Promise.race([answers, interrupted]).finally(() => signal.removeEventListener('abort', leave));
}

async function answerTo(desk: PlatformDesk, answerer: Answerer, call: PendingCall): Promise<Settled> {
  const { signal } = desk;
  const answer =
    call.fault === undefined ? await asked(answerer, call, signal) : clientError(call, call.fault);
  const settled = settle(call, answer);
  return signal.aborted ? settled : tellAnswered(desk, settled);
}

async function asked(answerer: Answerer, call: PendingCall, signal: AbortSignal): Promise<Answer> {
  try {
    return await answerer.answer(call, { signal });
  } catch (error) {
    return clientError(call, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n');
  return error instanceof Error ? error.message : String(error);
}

export interface AnswerSessionOptions {
  /** Sent as the bearer token to the origin of the URL, and told to nobody. */
  readonly key: string;
  readonly answerer: Answerer;
  /** Told every event as it happens. */
  readonly onEvent?: (event: Event) => void;
  /** Milliseconds without news after which it is given up; for ever unless told. */
  readonly waitMs?: number;
  /** Aborted, it ends with `interrupted`. */
  readonly signal?: AbortSignal;
}

/**
 * Answers the pending tool calls of an agent session until it settles (seed 001).
 * @param base of the platform, without `/api/v2`
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
