import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import { Content } from '../events/content.js';
import type { Body } from '../events/events.js';
import { ACK_TOLERANCE_MS, type Exchange } from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { Log } from '../events/log.js';
import type { Answer, Incoming } from '../http/route.js';
import { TransportError } from '../http/transport-error.js';
import type { UserChoice } from '../protocol/callbacks.js';
import { isSuccess } from '../protocol/http-status.js';
import { type Invocation, readInvocation, type UnaddressedInvocation } from '../protocol/invocation.js';
import type { Clock } from '../system/clock.js';
import { messageOf, ProtocolCliError } from '../util/errors.js';
import { exactJson } from '../util/exact-json.js';
import { readJson } from '../util/json.js';
import { LIMITS } from '../util/limits.js';
import {
  answerCallback,
  CallbackServer,
  type ListenerOptions,
  recordCallback,
  verdictOn,
} from './callback-server.js';
import { readAcknowledgement, type Wire } from './wire.js';

const RETRY_WITHIN_MS = 2_000;

/** How much is read of the body of a refusal. */
const REFUSAL = { maxBytes: LIMITS.excerptBytes.value, partial: true };

/** How long to wait for the acknowledgement after the result. */
const ACK_GRACE_MS = 1_000;

/** Long enough to distinguish an acknowledgement in transit from one that is sent only after the answer to the result. */
const ACK_WAIT_MS = 2 * ACK_TOLERANCE_MS;

/** How long to wait for a selection that is being sent when the call ends. */
const SELECTION_GRACE_MS = 1_000;

export interface RuntimeOptions {
  readonly log: Log;
  /** Must be subscribed to `log` before the runtime starts: it judges callbacks. */
  readonly history: History;
  readonly clock: Clock;
  readonly listener: ListenerOptions;
  /** Receives the secret part of each callback URL. */
  readonly onSecret?: (token: string) => void;
}

/** An invocation, and how long to wait for its result. */
export interface Call extends Omit<Watch, 'key'> {
  readonly endpoint: string;
  /** Contains a callback URL of this runtime, see {@link Runtime.addressed}. */
  readonly invocation: Invocation;
  readonly retries: number;
  readonly lenientAck: boolean;
}

export interface Answering {
  readonly by: 'person' | 'flag' | 'policy';
  /**
   * Returns the index of the choice; null without an answer.
   * @param signal aborted when the answer is no longer needed
   * @param nth number of the question within its call, from 0
   */
  readonly select: (question: UserChoice, signal: AbortSignal, nth: number) => Promise<number | null>;
}

/** The runtime side of the protocol: invokes tools and receives their callbacks. */
export class Runtime {
  private constructor(
    private readonly options: RuntimeOptions,
    private readonly callbacks: CallbackServer,
  ) {}

  /** @throws ProtocolCliError `port-in-use`. */
  static async start(options: RuntimeOptions): Promise<Runtime> {
    return new Runtime(options, await CallbackServer.start(options.log, options.listener));
  }

  /** Adds a callback URL to an invocation. */
  addressed(call: UnaddressedInvocation): Invocation {
    const { id } = call;
    const receive = (...request: [Incoming, Body]) => this.#receive(id, ...request);
    const { url, token } = this.callbacks.issue({ calls: [id], receive });
    this.options.onSecret?.(token);
    return { ...call, callback_url: url };
  }

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
   * Sends an invocation that has a callback URL, answers its questions, and waits until the call is settled or no longer awaited.
   * @throws ProtocolCliError `invalid-arguments` if the invocation cannot be sent, `usage` for an id that was used before.
   */
  async invoke(wire: Wire, call: Call, answering?: Answering): Promise<Exchange> {
    const { log, history, clock } = this.options;
    const key = call.invocation.id;
    refuseUnsendable(call.invocation, history);
    const stopAnswering = answering && answerQuestions(wire, history, call.invocation, answering, clock);
    try {
      const abort = new AbortController();
      const settled = settlement(log, history, clock, { ...call, key });
      const sent = this.#dispatch(wire, call, abort.signal);
      await settled;
      const stop = clock.after(ACK_GRACE_MS, () => abort.abort());
      if (history.exchanges.get(key)?.settled?.by !== 'result') abort.abort();
      await sent;
      stop();
      return this.#exchange(key);
    } finally {
      await stopAnswering?.();
    }
  }

  async close(): Promise<void> {
    await this.callbacks.server.close();
  }

  /**
   * POSTs the invocation until it is acknowledged or refused; the outcome follows from the events. Retries only unreachable tools and
   * 5xx (RT-RETRY, RT-NORETRY), and never after a callback, which proves that the tool received the invocation (RT-PENDING).
   */
  async #dispatch(wire: Wire, call: Call, signal: AbortSignal): Promise<void> {
    const { endpoint: url, invocation, retries, lenientAck } = call;
    const { id: key, group_id: thread } = invocation;
    // A matching callback proves receipt: only the tool knows the ids and the URL (RT-MATCH).
    const hasCalledBack = () =>
      this.options.history.exchanges
        .get(key)
        ?.arrivals.some(({ verdict }) => verdict.kind === 'settles' || verdict.kind === 'holds') ?? false;
    const post = async (attempt: number) => {
      const { status } = await wire.send(
        { purpose: 'invocation', attempt, calls: [key], thread },
        {
          method: 'POST',
          url,
          signal,
          body: Buffer.from(exactJson(invocation)),
          headers: { 'content-type': 'application/json' },
          read: (status, headers) => (status === 200 ? readAcknowledgement(status, headers) : REFUSAL),
          timeoutMs: 0, // the call's own timeout ends the request
        },
      );
      // Only 200 acknowledges (RT-NON200), or any 2xx with `lenientAck`.
      if (status !== 200 && !(lenientAck && isSuccess(status))) throw new NotAccepted(status >= 500);
    };
    try {
      await pRetry(post, {
        retries,
        maxRetryTime: RETRY_WITHIN_MS,
        minTimeout: 100,
        randomize: true,
        shouldRetry: ({ error }) => !hasCalledBack() && mayBeRetried(error),
        signal,
      });
    } catch (error) {
      if (!(error instanceof NotAccepted || error instanceof TransportError || signal.aborted)) throw error;
      if (!signal.aborted && !hasCalledBack())
        wire.log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [key] });
    }
  }

  /**
   * Records a callback, which the history judges, and answers it by that verdict. A result is answered only after the invocation was
   * answered. They use separate connections, so the acknowledgement may arrive later than the result. A tool that sends it only after
   * this answer violates TOOL-ACK.
   */
  async #receive(key: string, incoming: Incoming, body: Body): Promise<Answer> {
    const { log, history, clock } = this.options;
    const thread = history.exchanges.get(key)?.invocation.group_id;
    if (thread === undefined) return { status: 404 };
    const recorded = recordCallback(log, incoming, { calls: [key], thread, body });
    const verdict = verdictOn(recorded, history.exchanges.get(key));
    const isAcknowledged = () => {
      const last = history.exchanges.get(key)?.attempts.at(-1);
      return last === undefined || last.endedAt !== undefined;
    };
    const ready = verdict.kind === 'settles' ? until(log, isAcknowledged, { clock, ms: ACK_WAIT_MS }) : null;
    return answerCallback(log, recorded, verdict, { ready });
  }

  #exchange(key: string): Exchange {
    const exchange = this.options.history.exchanges.get(key);
    if (!exchange) throw new Error('the history must be subscribed to the log before the runtime starts');
    return exchange;
  }
}

interface TimeLimit {
  readonly clock: Clock;
  readonly ms: number;
}

/** Resolves when a condition holds, or after a timeout. The condition is checked now and after each event. */
function until(log: Log, condition: () => boolean, limit?: TimeLimit): Promise<void> {
  if (condition()) return Promise.resolve();
  return new Promise(resolve => {
    const stop = () => {
      unsubscribe();
      cancel?.();
      resolve();
    };
    const unsubscribe = log.subscribe(() => {
      if (condition()) stop();
    });
    const cancel = limit?.clock.after(limit.ms, stop);
  });
}

class NotAccepted extends Error {
  constructor(readonly mayBeRetried: boolean) {
    super('the invocation was not accepted');
  }
}

function mayBeRetried(error: unknown): boolean {
  if (error instanceof NotAccepted) return error.mayBeRetried;
  return error instanceof TransportError && error.phase !== 'address';
}

/** Refuses an invocation that this runtime could not parse itself: no exchange would exist to wait for (RT-FIELDS, RT-ID). */
function refuseUnsendable(invocation: Invocation, history: History): void {
  if (history.exchanges.has(invocation.id))
    throw new ProtocolCliError('usage', `the id ${JSON.stringify(invocation.id)} was used before`, {
      hint: 'Each call needs an id of its own.',
    });
  const reading = readInvocation(readJson(Buffer.from(JSON.stringify(invocation))));
  if (reading.ok) return;
  const { faults } = reading;
  throw new ProtocolCliError('invalid-arguments', 'the invocation cannot be sent', { faults });
}

/**
 * Answers each question of a call when it arrives, and POSTs the selection (RT-CHOICE). Returns a function that stops it, and resolves
 * when pending selections have arrived or after a second.
 */
export function answerQuestions(
  wire: Wire,
  history: History,
  { id: key, group_id: thread }: Pick<Invocation, 'id' | 'group_id'>,
  answering: Answering,
  clock: Clock,
): () => Promise<void> {
  const { log } = wire;
  const over = new AbortController();
  const graceOver = new AbortController();
  setMaxListeners(0, over.signal, graceOver.signal); // each open question adds a listener to both
  const answers = new Set<Promise<void>>();
  let asked = 0;
  const answer = async (leg: string, question: UserChoice) => {
    const selected = await answering.select(question, over.signal, asked++);
    if (selected === null || over.signal.aborted) return;
    log.emit({
      kind: 'decided',
      what: 'choice',
      by: answering.by,
      value: selected,
      question: leg,
      calls: [key],
    });
    const call = { key, thread, signal: graceOver.signal };
    await wire.respondToChoice(question.response_url, call, { id: question.id, selected });
  };
  const unanswered = (error: unknown) => {
    const why = messageOf(error);
    log.emit({ kind: 'warned', message: `the tool's question was not answered: ${why}`, calls: [key] });
  };
  const unsubscribe = log.subscribe(event => {
    if (!event.calls?.includes(key)) return;
    const exchange = history.exchanges.get(key);
    if (exchange?.settled) over.abort();
    if (event.kind !== 'response') return;
    const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
    if (arrival?.verdict.kind !== 'holds' || arrival.message?.type !== 'user_choice') return;
    const answered = answer(arrival.leg, arrival.message)
      .catch(unanswered)
      .finally(() => answers.delete(answered));
    answers.add(answered);
  });
  return async () => {
    over.abort();
    unsubscribe();
    const stopWaiting = clock.after(SELECTION_GRACE_MS, () => graceOver.abort());
    await Promise.all(answers);
    stopWaiting();
  };
}

interface Watch {
  readonly key: string;
  /** 0 for no limit. */
  readonly timeoutMs: number;
  /** Whether the time limit pauses while the user decides; default: true. */
  readonly pausesForUser?: boolean;
  /** Called after each event; returning true ends the wait while the call is pending. */
  readonly stopWaiting?: (exchange: Exchange) => boolean;
}

/** Resolves when the call is settled or no longer awaited. A timeout is recorded as an event (RT-TIMEOUT). */
export function settlement(log: Log, history: History, clock: Clock, watch: Watch): Promise<void> {
  const { key, timeoutMs, pausesForUser = true, stopWaiting } = watch;
  let remainingMs = timeoutMs;
  let runningSince = 0;
  let stopTimer: (() => void) | null = null;
  const run = () => {
    if (timeoutMs === 0 || stopTimer) return;
    runningSince = clock.now();
    stopTimer = clock.after(remainingMs, () =>
      log.emit({ kind: 'expired', what: 'timeout', afterMs: timeoutMs, calls: [key] }),
    );
  };
  const pause = () => {
    if (stopTimer) remainingMs = Math.max(0, remainingMs - (clock.now() - runningSince));
    stopTimer?.();
    stopTimer = null;
  };
  const follow = (exchange: Exchange): boolean => {
    const isOver = exchange.settled !== null || stopWaiting?.(exchange) === true;
    if (isOver || (exchange.waitingFor && pausesForUser)) pause();
    else run();
    return isOver;
  };
  run();
  return until(log, () => {
    const exchange = history.exchanges.get(key);
    return exchange !== undefined && follow(exchange);
  });
}

/**
 * Resolves to true when a subscription can receive no more events: after the last one, a cancel, or the end of its thread.
 * @param silence how long to wait for each event; then it resolves to false. Default: no limit.
 */
export async function subscriptionEnd(
  log: Log,
  history: History,
  key: string,
  silence?: TimeLimit,
): Promise<boolean> {
  const subscription = () => history.exchanges.get(key)?.subscription;
  const isOver = () => subscription()?.ended !== null;
  for (;;) {
    const events = subscription()?.events;
    const hasNews = () => isOver() || subscription()?.events !== events;
    await until(log, hasNews, silence);
    if (isOver() || !hasNews()) return isOver();
  }
}
