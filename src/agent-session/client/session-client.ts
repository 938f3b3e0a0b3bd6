import type { Answer } from '../../dialects/dialect.js';
import { Content } from '../../events/content.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { type Answerer, clientError } from './answerer.js';
import { type EncodedAnswer, encodeAnswer, groupAnswers, joinAnswers } from './encoded-answer.js';
import type { PendingCall } from './pending-calls.js';
import { backOffMs, PlatformSession, type PostFailure, type SessionConnection } from './platform-session.js';

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
 * Answers each call once and posts its answer once. A lost post, or one answered 408 or 5xx, is repeated only for calls
 * that are still pending; a refused answer does not block others.
 */
export class SessionClient {
  readonly session: PlatformSession;
  readonly #answered = new Set<string>();
  /** Answers that were refused while the session did not wait for any, by call key. */
  readonly #kept = new Map<string, EncodedAnswer>();

  constructor(
    private readonly connection: SessionConnection,
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
        await this.#answerCalls(due);
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
  async #answerCalls(due: readonly PendingCall[]): Promise<void> {
    const { signal } = this.connection;
    const answers = await this.session.race(
      Promise.all(
        due.map(async call => {
          const kept = this.#kept.get(call.key);
          if (kept) return kept;
          const done = await this.#requestAnswer(call);
          return signal.aborted ? done : this.#logAnswer(done);
        }),
      ),
    );
    this.#kept.clear();
    for (const group of groupAnswers(answers.map(each => this.#limitSize(each)))) await this.#deliver(group);
    for (const { key } of due) if (!this.#kept.has(key)) this.#answered.add(key);
  }

  /** Gets the answer of a call; an error of the answerer becomes one of the client. */
  async #requestAnswer(call: PendingCall): Promise<EncodedAnswer> {
    const { signal } = this.connection;
    let answer: Answer;
    try {
      if (call.fault !== undefined) return encodeAnswer(call, clientError(call, call.fault));
      answer = await this.answerer.answer(call, { signal });
    } catch (error) {
      answer = clientError(call, reasonOf(error));
    }
    try {
      return encodeAnswer(call, answer);
    } catch (error) {
      return encodeAnswer(
        call,
        clientError(call, `the result cannot be written as JSON: ${reasonOf(error)}`),
      );
    }
  }

  /** Logs the answer, and what is lost in it. */
  #logAnswer(answer: EncodedAnswer): EncodedAnswer {
    const { log, thread } = this.connection;
    const { call, losses, bytes } = answer;
    log.emit({ kind: 'answered', by: 'client', thread, calls: [call.key], body: new Content(bytes) });
    for (const message of losses) this.session.warn(`${call.tool}: ${message}`, [call.key]);
    return answer;
  }

  /** Replaces an answer that is larger than a body may be. */
  #limitSize(answer: EncodedAnswer): EncodedAnswer {
    const { bytes, kind } = answer;
    if (bytes.length <= LIMITS.sessionBodyBytes.value) return answer;
    const what = kind === 'error_event' ? 'error' : 'result';
    const sizes = `it has ${bytes.length} bytes; the maximum is ${LIMITS.sessionBodyBytes.value}`;
    return this.#replaceWithError(answer, `the ${what} is too large: ${sizes}`);
  }

  #replaceWithError({ call }: EncodedAnswer, message: string): EncodedAnswer {
    this.session.warn(`${call.tool}: ${message}`, [call.key]);
    return this.#logAnswer(encodeAnswer(call, clientError(call, message)));
  }

  /** @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`. */
  async #deliver(answers: readonly EncodedAnswer[]): Promise<void> {
    const tries: Tries = { losses: 0, waits: 0 };
    let left = answers;
    for (let attempt = 1; left.length > 0; attempt++) {
      const keys = left.map(({ call }) => call.key);
      const failure = await this.session.post(joinAnswers(left), keys, attempt);
      if (!failure) return;
      left = await this.#handleFailure(left, failure, tries);
    }
  }

  /** Returns the results that must be posted again. */
  async #handleFailure(
    answers: readonly EncodedAnswer[],
    { status, error, pauseMs }: PostFailure,
    tries: Tries,
  ): Promise<readonly EncodedAnswer[]> {
    if (status === 413) return this.#deliverOneByOne(answers, error);
    if (status === 422) return this.#handleInvalid(answers, error);
    if (status === 429) {
      if (++tries.waits > MAX.waits) throw error;
      await this.session.sleep(pauseMs);
      return answers;
    }
    const mayHaveArrived = status === 0 || status === 408 || status >= 500;
    if (!mayHaveArrived || ++tries.losses >= MAX.losses) throw error;
    await this.session.sleep(backOffMs(tries.losses));
    return this.#filterPending(answers);
  }

  /** If some answers were refused because their calls are not pending any more, the others can be posted again. */
  async #handleInvalid(
    answers: readonly EncodedAnswer[],
    refusal: ProtocolCliError,
  ): Promise<readonly EncodedAnswer[]> {
    const { session } = this;
    const still = await this.#filterPending(answers);
    const gone = answers.length - still.length;
    if (gone > 0) {
      session.warn(`calls that were not pending any more when their answers were posted: ${gone}`);
      return still;
    }
    if (session.isAwaiting) return this.#deliverOneByOne(answers, refusal);
    for (const each of still) this.#kept.set(each.call.key, each);
    return [];
  }

  /** Posts each result alone, so that one bad result does not block the others. A single result is replaced by an error. */
  async #deliverOneByOne(
    answers: readonly EncodedAnswer[],
    refusal: ProtocolCliError,
  ): Promise<readonly EncodedAnswer[]> {
    const [only] = answers;
    if (only && answers.length === 1) {
      if (only.kind === 'error_event') throw refusal;
      return [this.#replaceWithError(only, `the result could not be posted: ${refusal.message}`)];
    }
    let first: ProtocolCliError | undefined;
    for (const each of answers)
      await this.#deliver([each]).catch(error => {
        if (!(error instanceof ProtocolCliError && error.code === 'platform-refused')) throw error;
        first ??= error;
      });
    if (first) throw first;
    return [];
  }

  /** Returns those whose calls are still pending. */
  async #filterPending(answers: readonly EncodedAnswer[]): Promise<readonly EncodedAnswer[]> {
    await this.session.poll(0);
    const keys = new Set(this.session.listed.map(({ key }) => key));
    return answers.filter(({ call }) => keys.has(call.key));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolCliError) return [error.message, ...error.faults].join('\n');
  return messageOf(error);
}
