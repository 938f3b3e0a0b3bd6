import { randomUUID } from 'node:crypto';
import type { Event } from '../../events/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import { isLoopback } from '../../http/addresses.js';
import { TransportError } from '../../http/client.js';
import type { CallbackType } from '../../protocol/callbacks.js';
import type { RequirementId } from '../../protocol/requirements.js';
import {
  type About,
  cancelToolCall,
  closeThread,
  type NoticeAnswer,
  readAcknowledgement,
  respondToChoice,
  send,
  type Wire,
} from '../../runtime/notices.js';
import { readUrl } from '../../util/url.js';
import { isRecord } from '../../util/values.js';
import {
  type Answering,
  type Inbox,
  type ProbeListener,
  type ReceivedCallback,
  type WaitOptions,
  within,
} from './listener.js';

/** A valid call, and how the sent call differs from it. */
export interface ProbeCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Fields that replace or extend the fields of a valid invocation; undefined removes a field. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly addressed?: (url: string) => string;
  /** Returns the body to send instead of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether to follow its subscription to the end; default: cancel it after the first event. */
  readonly isFollowed?: boolean;
  readonly answers?: readonly Answering[];
}

/** A plan that the log records before its calls. */
export interface Plan {
  readonly id: string;
  /** Requirements that its calls can show. */
  readonly checks: readonly RequirementId[];
  readonly case?: number;
  /** Whether the calls were made before, and are repeated alone. */
  readonly again?: true;
}

export interface ContextOptions extends WaitOptions {
  /** Its log receives all events. */
  readonly wire: Wire;
  readonly listener: ProbeListener;
  readonly base: string;
  readonly endpoint: string;
  /** The time limit of each observation, in ms. */
  readonly probeTimeoutMs: number;
  /** Whether a requirement is selected. A probe that tests no selected requirement is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
}

/** The time limit for a tool that was silent for a whole window, in ms. */
const SILENT_MS = 1_000;

/** One run against one tool: its connections, its time limits and its calls. */
export class ProbeContext {
  readonly calls: SentCall[] = [];
  /** Whether our last finished request got no response. */
  isBroken = false;
  readonly #purposes = new Map<string, string>();
  #hasExpired = false;
  #hasCallback = false;
  #hasAnswer = false;

  constructor(readonly options: ContextOptions) {
    options.wire.log.subscribe(event => this.#read(event));
  }

  get isAborted(): boolean {
    return this.options.signal.aborted;
  }

  /** How long an observation is waited for, in ms; shorter if the tool sent no callback within a whole window. */
  get windowMs(): number {
    const { probeTimeoutMs } = this.options;
    return this.#hasExpired && !this.#hasCallback ? Math.min(SILENT_MS, probeTimeoutMs) : probeTimeoutMs;
  }

  /** The time limit of requests, in ms: shorter until the tool has answered an invocation. */
  get patience(): { readonly timeoutMs: number; readonly signal: AbortSignal } {
    const { probeTimeoutMs, signal } = this.options;
    return { timeoutMs: this.#hasAnswer ? probeTimeoutMs : this.windowMs, signal };
  }

  #read(event: Event): void {
    if (event.kind === 'request') {
      if (event.purpose === 'callback') this.#hasCallback = true;
      else this.#purposes.set(event.leg, event.purpose);
    } else if (event.kind === 'response' || event.kind === 'broken') {
      const purpose = this.#purposes.get(event.leg);
      if (!this.#purposes.delete(event.leg)) return;
      this.isBroken = event.kind === 'broken';
      if (purpose === 'invocation' && !this.isBroken) this.#hasAnswer = true;
    } else if (event.kind === 'expired' && event.afterMs >= this.options.probeTimeoutMs)
      this.#hasExpired = true;
  }

  within(ms: number, promise?: Promise<unknown>): Promise<boolean> {
    return within(this.options, ms, promise);
  }

  /** Waits for one of these messages, at most for one window. */
  sees(inbox: Inbox, ...types: readonly CallbackType[]): Promise<boolean> {
    const message = inbox.until(each => each.has(...types));
    return this.within(this.windowMs, message);
  }

  warn(message: string, calls?: string[]): void {
    if (!this.isAborted) this.options.wire.log.emit({ kind: 'warned', ...(calls && { calls }), message });
  }

  cancel(call: Pick<SentCall, 'key' | 'thread' | 'id'>): Promise<NoticeAnswer> {
    const { wire, base } = this.options;
    return cancelToolCall(wire, base, call, this.patience);
  }

  closeThread(thread: string): Promise<NoticeAnswer> {
    const { wire, base } = this.options;
    return closeThread(wire, base, thread, this.patience);
  }

  /** @param calls made for the plan; none when it is announced */
  recordPlan({ id, checks, case: index, again }: Plan, calls?: string[]): void {
    this.options.wire.log.emit({
      kind: 'planned',
      by: 'probe',
      plan: id,
      checks: [...checks],
      ...(index !== undefined && { case: index }),
      ...(again && { again }),
      ...(calls && { calls }),
    });
  }

  recordCancel(key: string): void {
    this.options.wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  }

  /** Records that something was expected and did not come. */
  recordExpiry(key: string, afterMs: number): void {
    if (this.isAborted) return;
    this.options.wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
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

  /** Sends an invocation once, and answers the tool's questions. */
  send(call: ProbeCall): SentCall {
    const key = `${this.plan.id} ${++this.#count}`;
    this.context.recordPlan(this.plan, [key]);
    const sent = new SentCall(this.context, key, call);
    this.context.calls.push(sent);
    return sent;
  }

  async call(call: ProbeCall): Promise<SentCall> {
    const sent = this.send(call);
    await sent.finish();
    return sent;
  }
}

/** Maximum number of answers per call: a tool may ask an endless series of questions. */
const MAX_QUESTIONS = 3;

const FIRST_EVENT_MS = 1_000;

/** For how much of the window a subscription is followed: other probes wait as long anyway. */
const FOLLOWED_PART = 0.5;

/** How long nothing may come after the end of a subscription, in ms. */
const QUIET_MS = 1_000;

/** A call and the conversation that follows. */
export class SentCall {
  readonly id: string;
  readonly thread: string;
  readonly inbox: Inbox;
  /** The invocation that was sent; null if malformed. */
  readonly sent: Pick<ProbeCall, 'operation' | 'arguments'> | null;
  /** Resolves when its invocation has ended, with the time until the acknowledgement; null without one. */
  readonly acknowledged: Promise<number | null>;
  readonly #begun: number;
  readonly #questions: Promise<unknown>[] = [];

  constructor(
    private readonly context: ProbeContext,
    readonly key: string,
    private readonly call: ProbeCall,
  ) {
    const { fields = {}, answers = [200], addressed = url => url, body = JSON.stringify } = call;
    this.id = textOr(fields['id'], `call_${randomUUID()}`);
    this.thread = textOr(fields['group_id'], `thread_${randomUUID()}`);
    const { clock, listener } = context.options;
    const acknowledged = () => this.acknowledged;
    const { url, inbox } = listener.open({ key, thread: this.thread, answers, acknowledged });
    this.inbox = inbox;
    inbox.subscribe(callback => this.#answer(callback));
    const { operation, arguments: args } = call;
    const invocation: Record<string, unknown> = {
      ...{ operation, arguments: args, id: this.id, call_id: `model_${randomUUID()}`, group_id: this.thread },
      callback_url: addressed(url),
      ...fields,
    };
    const isMalformed =
      call.body || typeof invocation['operation'] !== 'string' || !isRecord(invocation['arguments']);
    this.sent = isMalformed ? null : { operation, arguments: args };
    this.#begun = clock.now();
    this.acknowledged = this.#post(body(invocation));
  }

  /** Whether the 200 was slow, or came after the result. */
  async isLate(): Promise<boolean> {
    const ms = await this.acknowledged;
    const { at = Number.POSITIVE_INFINITY } =
      this.inbox.callbacks.find(({ message }) => message?.type === 'tool_result') ?? {};
    return ms !== null && (ms > ACK_SLOW_MS || this.#begun + ms - at > ACK_TOLERANCE_MS);
  }

  /** Waits for the result and the conversation; records an expiry if no result came in time. */
  async finish(): Promise<void> {
    await this.sees(inbox => inbox.has('tool_result'));
    await Promise.all([this.acknowledged, this.converse()]);
  }

  /** Resolves when its questions and its subscription are done. */
  async converse(): Promise<void> {
    await Promise.all(this.#questions);
  }

  /** Waits at most `ms` (default: the window) for callbacks; records an expiry and returns false if they do not come. */
  async sees(isEnough: (inbox: Inbox) => boolean, ms = this.context.windowMs): Promise<boolean> {
    const isSeen = await this.context.within(ms, this.inbox.until(isEnough));
    if (!isSeen) this.context.recordExpiry(this.key, ms);
    return isSeen;
  }

  /** The log has the outcome. Returns the time until the answer. */
  async #post(body: string): Promise<number | null> {
    const { key, thread, context } = this;
    const { wire, endpoint, clock } = context.options;
    const about: About = { purpose: 'invocation', attempt: 1, calls: [key], thread };
    try {
      await send(wire, about, {
        method: 'POST',
        url: endpoint,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(body),
        read: readAcknowledgement,
        ...context.patience,
      });
      return clock.now() - this.#begun;
    } catch (error) {
      if (error instanceof TransportError) return null;
      throw error;
    }
  }

  /** Answers the tool's questions. */
  #answer(callback: ReceivedCallback): void {
    const { message, sha256 } = callback;
    // A callback that was not accepted is sent again, and an accepted one may be.
    const first = this.inbox.callbacks.find(each => each.isAccepted && each.sha256 === sha256);
    if (first !== callback || !message || this.#questions.length >= MAX_QUESTIONS) return;
    if (message.type === 'oauth') this.context.options.onConsent(message.auth_url);
    if (message.type === 'user_choice') this.#questions.push(this.#choose(callback.leg, message));
    if (message.type === 'tool_result' && message.subscription)
      this.#questions.push(this.#leaveSubscription());
  }

  /** Selects the default, like a dismissed prompt (TOOL-CHOICE). */
  async #choose(
    question: string,
    { response_url: url, default: selected, id }: { response_url: string; default: number; id: string },
  ): Promise<void> {
    const { context, key, thread } = this;
    const { wire, signal } = context.options;
    const calls = [key];
    if (!isNear(url, context.options))
      return context.warn('no selection was sent: response_url has a different host than the tool', calls);
    wire.log.emit({ kind: 'decided', what: 'choice', by: 'policy', value: selected, question, calls });
    await respondToChoice(wire, url, { key, thread, signal }, { id, selected });
  }

  /** Cancels a subscription unless it has ended, and checks whether more events come (TOOL-SUB). */
  async #leaveSubscription(): Promise<void> {
    const { context, inbox, key } = this;
    const { windowMs } = context;
    const isWatched = context.options.wants('TOOL-SUB');
    const hasEnded = () =>
      inbox.callbacks.some(({ message }) => message?.type === 'subscription_event' && message.final === true);
    const firstMs = Math.min(FIRST_EVENT_MS, windowMs);
    if (this.call.isFollowed)
      await context.within(Math.max(firstMs, windowMs * FOLLOWED_PART), inbox.until(hasEnded));
    else if (isWatched) {
      const event = inbox.until(each => each.has('subscription_event'));
      await context.within(firstMs, event);
    }
    if (context.isAborted) return;
    if (!hasEnded()) {
      context.recordCancel(key);
      await context.cancel(this);
    }
    if (isWatched) await this.#watchSilence();
  }

  /** The first event may have been sent before the cancel: a second quiet period shows whether more come. */
  async #watchSilence(): Promise<void> {
    const { context, inbox, key } = this;
    const quietMs = Math.min(QUIET_MS, context.windowMs);
    const before = inbox.callbacks.length;
    await context.within(quietMs);
    const isQuiet = inbox.callbacks.length === before;
    if (!isQuiet) await context.within(quietMs);
    context.recordExpiry(key, isQuiet ? quietMs : 2 * quietMs);
  }
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Processes all items in order, with limited concurrency. */
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
