import { randomUUID } from 'node:crypto';
import type { Event } from '../../events/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { isLoopback } from '../../http/addresses.js';
import { TransportError } from '../../http/client.js';
import type { RequirementId } from '../../protocol/requirements.js';
import {
  type About,
  type Delivery,
  type Notice,
  type NoticeAnswer,
  notify,
  readAcknowledgement,
  respondToChoice,
  send,
  type Wire,
} from '../../runtime/notices.js';
import { readUrl } from '../../util/url.js';
import { isRecord } from '../../util/values.js';
import {
  type Answering,
  deferred,
  type Inbox,
  type ProbeListener,
  pause,
  type ReceivedCallback,
  resolvedWithin,
  type WaitOptions,
} from './listener.js';

/** What is sent: a valid call, and how it differs from one. */
export interface ProbeCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Fields that replace or extend those of a valid invocation; undefined removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Changes the callback URL. */
  readonly addressed?: (url: string) => string;
  /** The body instead of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether to follow its subscription to the end; default: cancel it after the first event. */
  readonly isFollowed?: boolean;
  /** The answers to its callbacks; default 200. */
  readonly answers?: readonly Answering[];
}

/** A call that was made. */
export interface SentCall {
  readonly key: string;
  readonly id: string;
  readonly thread: string;
  readonly inbox: Inbox;
  /** What it sent; null if it is malformed. */
  readonly sent: Pick<ProbeCall, 'operation' | 'arguments'> | null;
  /** Resolves when its invocation has ended, with the time until the acknowledgement; null without one. */
  readonly acknowledged: Promise<number | null>;
  /** Whether the 200 was slow, or came after the result. */
  readonly isLate: () => Promise<boolean>;
  /** Resolves when its questions and its subscription are done. */
  readonly converse: () => Promise<void>;
}

/** A plan that the log records before its calls. */
export interface Plan {
  readonly id: string;
  /** Requirements that its calls can show. */
  readonly checks: readonly RequirementId[];
  /** The index of the case. */
  readonly case?: number;
  /** Its calls were made before, and are repeated alone. */
  readonly again?: true;
}

interface ContextOptions extends WaitOptions {
  readonly wire: Wire;
  readonly listener: ProbeListener;
  /** Of the tool server. */
  readonly base: string;
  /** Where invocations go. */
  readonly endpoint: string;
  /** How long each observation is waited for, in ms. */
  readonly probeTimeoutMs: number;
  /** Requirements wanted. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
}

/** The time for a tool that was silent for a whole window, in ms: nothing is expected of it any more. */
const SILENT_MS = 1_000;

/** One run against one tool: its connections, its time limits and its calls. */
export class ProbeContext {
  readonly calls: SentCall[] = [];
  /** Threads to close at the end. */
  readonly threads = new Set<string>();
  /** Whether the last request of ours that ended was not answered. */
  isBroken = false;
  readonly #requests = new Map<string, string>();
  #hasExpired = false;
  #hasCallback = false;
  #hasAnswer = false;

  constructor(readonly options: ContextOptions) {
    options.wire.log.subscribe(event => this.#read(event));
  }

  get wire(): Wire {
    return this.options.wire;
  }

  get base(): string {
    return this.options.base;
  }

  get isAborted(): boolean {
    return this.options.signal.aborted;
  }

  wants(id: RequirementId): boolean {
    return this.options.wants(id);
  }

  /** How long an observation is waited for, in ms; shorter if the tool sent no callback within a whole window. */
  get windowMs(): number {
    const { probeTimeoutMs } = this.options;
    return this.#hasExpired && !this.#hasCallback ? Math.min(SILENT_MS, probeTimeoutMs) : probeTimeoutMs;
  }

  /** The same for the answer to a request. */
  get answerMs(): number {
    return this.#hasAnswer ? this.options.probeTimeoutMs : this.windowMs;
  }

  #read(event: Event): void {
    const { probeTimeoutMs } = this.options;
    if (event.kind === 'request') {
      if (event.purpose === 'callback') this.#hasCallback = true;
      else this.#requests.set(event.leg, event.purpose);
    } else if (event.kind === 'response' || event.kind === 'broken') {
      const purpose = this.#requests.get(event.leg);
      if (purpose === undefined) return;
      this.#requests.delete(event.leg);
      this.isBroken = event.kind === 'broken';
      if (purpose === 'invocation' && event.kind === 'response') this.#hasAnswer = true;
    } else if (event.kind === 'expired' && event.afterMs >= probeTimeoutMs) this.#hasExpired = true;
  }

  within(ms: number, promise: Promise<unknown>): Promise<boolean> {
    return resolvedWithin(this.options, ms, promise);
  }

  pause(ms: number): Promise<void> {
    return pause(this.options, ms);
  }

  warn(message: string, calls?: string[]): void {
    if (!this.isAborted) this.wire.log.emit({ kind: 'warned', ...(calls && { calls }), message });
  }

  notify(notice: Notice, calls?: Delivery['calls']): Promise<NoticeAnswer> {
    const delivery = { timeoutMs: this.answerMs, signal: this.options.signal, ...(calls && { calls }) };
    return notify(this.wire, this.base, notice, delivery);
  }

  cancel({ key, thread, id }: Pick<SentCall, 'key' | 'thread' | 'id'>): Promise<NoticeAnswer> {
    return this.notify({ kind: 'cancel', message: { thread_id: thread, tool_call_id: id } }, [key]);
  }

  closeThread(thread: string): Promise<NoticeAnswer> {
    return this.notify({ kind: 'close', message: { thread_id: thread } });
  }

  /** @param calls made for the plan; none when it is announced */
  recordPlan({ id, checks, case: index, again }: Plan, calls?: string[]): void {
    this.wire.log.emit({
      kind: 'planned',
      by: 'probe',
      plan: id,
      checks: [...checks],
      ...(index !== undefined && { case: index }),
      ...(again && { again }),
      ...(calls && { calls }),
    });
  }

  /** Records that something was waited for and did not come. */
  recordExpiry(key: string, afterMs: number): void {
    if (!this.isAborted) this.wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
  }
}

/** A check sends requests only to the tool, not to a third party that the tool names (threats, row 9). */
export function isNear(url: string, { base, endpoint }: Pick<ContextOptions, 'base' | 'endpoint'>): boolean {
  const target = readUrl(url);
  if (!target) return false;
  if (isLoopback(target.hostname)) return isLoopback(readUrl(base)?.hostname ?? '');
  return [base, endpoint].some(own => readUrl(own)?.host === target.host);
}

/** Makes the calls of one plan. They are named by the plan and counted, so that each run has the same names. */
export class ProbeClient {
  #count = 0;

  constructor(
    private readonly context: ProbeContext,
    private readonly plan: Plan,
  ) {}

  /** Sends an invocation once, and answers what its tool asks. */
  send(call: ProbeCall): SentCall {
    const { context, plan } = this;
    const { clock, listener } = context.options;
    const key = `${plan.id} ${++this.#count}`;
    context.recordPlan(plan, [key]);
    const { fields = {}, answers = [200], addressed = url => url, body = JSON.stringify } = call;
    const id = textOr(fields['id'], `call_${randomUUID()}`);
    const thread = textOr(fields['group_id'], `thread_${randomUUID()}`);
    const { promise: acknowledged, resolve } = deferred<number | null>();
    const { url, inbox } = listener.open({ key, thread, answers, acknowledged });
    context.threads.add(thread);
    const { operation, arguments: args } = call;
    const invocation = {
      ...{ operation, arguments: args, id, call_id: `model_${randomUUID()}`, group_id: thread },
      callback_url: addressed(url),
      ...fields,
    };
    const converse = this.#converse({ key, id, thread, inbox }, call.isFollowed ?? false);
    const begun = clock.now();
    resolve(this.#post(key, thread, body(invocation)));
    const isLate = async () => {
      const ms = await acknowledged;
      const result = inbox.callbacks.find(({ message }) => message?.type === 'tool_result');
      return ms !== null && (ms > ACK_SLOW_MS || begun + ms - (result?.at ?? Infinity) > ACK_TOLERANCE_MS);
    };
    const sent = call.body ? null : callIn(invocation);
    const made = { key, id, thread, inbox, sent, acknowledged, isLate, converse };
    context.calls.push(made);
    return made;
  }

  /** Waits for the result and the conversation; records an expiry if no result came in time. */
  async finish(call: SentCall): Promise<void> {
    await this.sees(call, inbox => inbox.has('tool_result'));
    await Promise.all([call.acknowledged, call.converse()]);
  }

  /** Sends, and waits until that is finished. */
  async call(call: ProbeCall): Promise<SentCall> {
    const made = this.send(call);
    await this.finish(made);
    return made;
  }

  /** Waits at most `ms` (default: the window) for callbacks; records an expiry and returns false if they do not come. */
  async sees(
    { key, inbox }: SentCall,
    isEnough: (inbox: Inbox) => boolean,
    ms = this.context.windowMs,
  ): Promise<boolean> {
    const isSeen = await this.context.within(ms, inbox.until(isEnough));
    if (!isSeen) this.context.recordExpiry(key, ms);
    return isSeen;
  }

  /** The log has the outcome. Returns the time until the answer. */
  async #post(key: string, thread: string, body: string): Promise<number | null> {
    const { wire, answerMs, options } = this.context;
    const about: About = { purpose: 'invocation', attempt: 1, calls: [key], thread };
    const begun = options.clock.now();
    try {
      await send(wire, about, {
        method: 'POST',
        url: options.endpoint,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(body),
        read: readAcknowledgement,
        signal: options.signal,
        timeoutMs: answerMs,
      });
      return options.clock.now() - begun;
    } catch (error) {
      if (error instanceof TransportError) return null;
      throw error;
    }
  }

  /** Answers what a tool asks, as it comes. Returns how to wait for what was begun. */
  #converse(call: Conversation, isFollowed: boolean): () => Promise<void> {
    const begun: Promise<unknown>[] = [];
    const { callbacks } = call.inbox;
    call.inbox.subscribe(callback => {
      const { message, sha256 } = callback;
      // A callback that was not accepted comes again, and one that was may.
      const first = callbacks.find(each => each.isAccepted && each.sha256 === sha256);
      if (first !== callback || !message || begun.length >= MAX_QUESTIONS) return;
      if (message.type === 'oauth') this.context.options.onConsent(message.auth_url);
      if (message.type === 'user_choice') begun.push(this.#choose(call, callback, message));
      if (message.type === 'tool_result' && message.subscription)
        begun.push(this.#leaveSubscription(call, isFollowed));
    });
    return async () => void (await Promise.all(begun));
  }

  /** Selects the default, like a dismissed prompt (TOOL-CHOICE). */
  async #choose(
    { key, thread }: Conversation,
    { leg }: ReceivedCallback,
    { response_url: url, default: selected, id }: { response_url: string; default: number; id: string },
  ): Promise<void> {
    const { wire, options } = this.context;
    const calls = [key];
    if (!isNear(url, options))
      return this.context.warn(
        'no selection was sent: response_url has a different host than the tool',
        calls,
      );
    wire.log.emit({ kind: 'decided', what: 'choice', by: 'policy', value: selected, question: leg, calls });
    await respondToChoice(wire, url, { key, thread, signal: options.signal }, { id, selected });
  }

  /** Cancels a subscription unless it has ended, and looks whether events still come (TOOL-SUB). */
  async #leaveSubscription(call: Conversation, isFollowed: boolean): Promise<void> {
    const { context } = this;
    const { key, inbox } = call;
    const isWatched = context.wants('TOOL-SUB');
    const { windowMs } = context;
    const hasEnded = () =>
      inbox.callbacks.some(({ message }) => message?.type === 'subscription_event' && message.final === true);
    const firstMs = Math.min(FIRST_EVENT_MS, windowMs);
    if (isFollowed) await context.within(Math.max(firstMs, windowMs * FOLLOWED_PART), inbox.until(hasEnded));
    else if (isWatched)
      await context.within(
        firstMs,
        inbox.until(each => each.has('subscription_event')),
      );
    if (context.isAborted) return;
    if (!hasEnded()) {
      context.wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
      await context.cancel(call);
    }
    if (isWatched) await this.#watchSilence(call);
  }

  /** An event that comes may have been on its way: then another quiet period shows whether more come. */
  async #watchSilence({ key, inbox }: Conversation): Promise<void> {
    const quietMs = Math.min(QUIET_MS, this.context.windowMs);
    const before = inbox.callbacks.length;
    await this.context.pause(quietMs);
    const isQuiet = inbox.callbacks.length === before;
    if (!isQuiet) await this.context.pause(quietMs);
    this.context.recordExpiry(key, isQuiet ? quietMs : 2 * quietMs);
  }
}

type Conversation = Pick<SentCall, 'key' | 'id' | 'thread' | 'inbox'>;

/** A tool may ask forever. */
const MAX_QUESTIONS = 3;

/** The wait for the first event of a subscription, in ms. */
const FIRST_EVENT_MS = 1_000;

/** The part of the window for which a subscription is followed: other probes wait as long for what may not come. */
const FOLLOWED_PART = 0.5;

/** How long nothing may come after the end of a subscription, in ms. */
const QUIET_MS = 1_000;

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function callIn(invocation: Readonly<Record<string, unknown>>): SentCall['sent'] {
  const { operation, arguments: args } = invocation;
  return typeof operation === 'string' && isRecord(args) ? { operation, arguments: args } : null;
}

/** Works on all of them, so many at a time, in their order. */
export async function concurrently<T>(
  all: readonly T[],
  concurrency: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const waiting = all.values();
  const worker = async () => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
