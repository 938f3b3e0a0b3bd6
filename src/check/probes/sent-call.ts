import { randomUUID } from 'node:crypto';
import { Content } from '../../events/content.js';
import type { Body } from '../../events/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import type { ServedRequest } from '../../events/log.js';
import { isHostOfTool } from '../../http/addresses.js';
import type { Incoming, Reply } from '../../http/route.js';
import { TransportError } from '../../http/transport-error.js';
import { type Callback, type CallbackType, readCallback } from '../../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { recordCallback } from '../../runtime/callback-server.js';
import { readAcknowledgement, type Wire } from '../../runtime/wire.js';
import { isRecord } from '../../util/values.js';
import { Waits } from '../waits.js';
import type { LiveCheck } from './live-check.js';
import type { PlannedResponse, ProbeCall, ProbePlan } from './probe-call.js';
import { CALLBACK_LIMITS, quota } from './quota.js';

const MS = {
  firstEvent: 1_000,
  /** How long nothing may come after the end of a subscription. */
  quiet: 1_000,
  /** The delay of a late 200. */
  slow: 1_000,
  /** A tool that waits for the response to its result has not acknowledged the call first (TOOL-ACK). */
  acknowledged: 200,
};

/** For this part of the window a subscription is followed, and a callback hangs: the rest is for a retry. */
const HALF = 0.5;

/** Maximum number of answers per call: a tool may ask an endless series of questions. */
const MAX_QUESTIONS = 3;

interface AnsweredCallback {
  readonly requestId: string;
  readonly at: number;
  /** Null if it is invalid. */
  readonly message: Callback | null;
  readonly sha256: string;
  /** Whether it was answered 200: the tool must not send it again. */
  readonly isAccepted: boolean;
}

/** A call and the conversation that follows. */
export class SentCall {
  readonly id: string;
  readonly thread: string;
  readonly callbacks: AnsweredCallback[] = [];
  /** The invocation that was sent; null if malformed. */
  readonly wellFormed: Pick<ProbeCall, 'operation' | 'arguments' | 'caller'> | null;
  /** Sends its requests, with the headers of its caller. */
  readonly wire: Wire;
  /** Resolves when its invocation has ended, with the time until the acknowledgement; null without one. */
  acknowledged: Promise<number | null> = Promise.resolve(null);
  /** Whether the server may have received the invocation. */
  isDelivered = true;
  /** The status of its acknowledgement, once it came. */
  status: number | null = null;
  #begun: number;
  readonly #isWithinQuota: (size: number) => boolean;
  readonly #waits: Waits;
  readonly #questions: Promise<unknown>[] = [];
  #received = 0;

  constructor(
    private readonly check: LiveCheck,
    readonly key: string,
    readonly call: ProbeCall,
    readonly plan: ProbePlan,
  ) {
    const { fields = {}, operation, arguments: args, caller } = call;
    const { clock, wire } = check.options;
    this.id = String(fields['id'] ?? `call_${randomUUID()}`);
    this.thread = String(fields['group_id'] ?? `thread_${randomUUID()}`);
    const valid = { operation, arguments: args, ...fields };
    const isMalformed = call.body || typeof valid.operation !== 'string' || !isRecord(valid.arguments);
    this.wellFormed = isMalformed ? null : { operation, arguments: args, caller };
    this.wire = caller?.headers ? wire.withHeaders({ ...wire.headers, ...caller.headers }) : wire;
    this.#isWithinQuota = quota(wire.log, CALLBACK_LIMITS.call, 'for one call', [key]);
    this.#waits = new Waits(clock, check.signal);
    this.#begun = clock.runnable();
  }

  /** Sends the invocation; {@link acknowledged} and {@link callbacks} show what follows. */
  post(callbackUrl: string): void {
    const { fields, addressed = url => url, body = JSON.stringify, operation, arguments: args } = this.call;
    const invocation = {
      operation,
      arguments: args,
      id: this.id,
      call_id: `model_${randomUUID()}`,
      group_id: this.thread,
      callback_url: addressed(callbackUrl),
      user_id: this.call.caller?.userId,
      ...fields,
    };
    this.#begun = this.check.options.clock.runnable();
    this.acknowledged = this.#send(body(invocation));
  }

  /** How long after the invocation the server exited, in ms; 0 while it runs. */
  get msUntilExit(): number {
    return (this.check.tool.exitedAt ?? this.#begun) - this.#begun;
  }

  hasReceived(...types: readonly CallbackType[]): boolean {
    return this.callbacks.some(({ message }) => message !== null && types.includes(message.type));
  }

  /** The text of its result, if that is an error. */
  get error(): string | null {
    const result = this.callbacks.find(({ message }) => message?.type === 'tool_result')?.message;
    if (result?.type !== 'tool_result') return null;
    const text = llmText(result);
    return outcomeOfText(text).type === 'error' ? text : null;
  }

  get isSubscription(): boolean {
    return this.callbacks.some(
      ({ message }) => message?.type === 'tool_result' && message.subscription === true,
    );
  }

  /** Waits at most `ms` (default: the window) for a callback after which it is true. */
  until(isTrue: () => boolean, ms = this.check.windowMs): Promise<boolean> {
    return this.#waits.until(isTrue, ms);
  }

  /** As {@link until}; records an expiry if it does not come true. */
  async expect(isTrue: () => boolean, ms = this.check.windowMs): Promise<boolean> {
    const isMet = await this.until(isTrue, ms);
    if (!isMet) this.check.recordExpiry(this.key, ms, this.plan.case !== undefined);
    return isMet;
  }

  /** As {@link until}, for one of these messages. */
  waitFor(types: readonly CallbackType[], ms = this.check.windowMs): Promise<boolean> {
    return this.until(() => this.hasReceived(...types), ms);
  }

  /** Whether the 200 was slow, or came after the result. */
  async isLate(): Promise<boolean> {
    const ms = await this.acknowledged;
    const { at = Number.POSITIVE_INFINITY } =
      this.callbacks.find(({ message }) => message?.type === 'tool_result') ?? {};
    return ms !== null && (ms > ACK_SLOW_MS || this.#begun + ms - at > ACK_TOLERANCE_MS);
  }

  /** Waits for the result and the conversation; records an expiry if no result came in time. */
  async finish(): Promise<void> {
    await this.expect(() => this.hasReceived('tool_result'));
    await Promise.all([this.acknowledged, this.conversationEnded()]);
  }

  /** Resolves when its questions and its subscription are done. */
  async conversationEnded(): Promise<void> {
    await Promise.all(this.#questions);
  }

  async cancel(): Promise<void> {
    if (!this.check.isAborted) await this.wire.cancelToolCall(this, this.check.requestLimits);
  }

  /** The log has the outcome. Returns the time until the answer. */
  async #send(body: string): Promise<number | null> {
    const { key, thread, check, wire } = this;
    const { clock, endpoint } = check.options;
    try {
      const { status } = await wire.send(
        { purpose: 'invocation', calls: [key], thread },
        {
          method: 'POST',
          url: endpoint,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(body),
          read: readAcknowledgement,
          ...check.requestLimits,
        },
      );
      this.status = status;
      return clock.runnable() - this.#begun;
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      this.isDelivered = error.phase === 'send' || error.phase === 'answer';
      return null;
    }
  }

  /** Records a callback, and answers it as planned. */
  async receive(incoming: Incoming, body: Body): Promise<Reply> {
    const { check, call, key, thread } = this;
    if (!this.#isWithinQuota(body.size) || !check.isWithinQuota(body.size)) return { status: 429 };
    const { clock, wire } = check.options;
    const at = clock.runnable();
    const recorded = recordCallback(wire.log, incoming, { calls: [key], thread, body });
    const reading = readCallback(body.json);
    const message = reading.ok ? reading.message : null;
    const { answers = [200] } = call;
    const planned = answers[Math.min(this.#received++, answers.length - 1)] ?? 200;
    if (message?.type === 'tool_result') await check.within(MS.acknowledged, this.acknowledged);
    const reply = await this.#reply(recorded, message || planned !== 200 ? planned : 400);
    const isAccepted = reply !== 'reset' && reply.status === 200;
    this.#react({ requestId: recorded.leg, at, message, sha256: body.sha256, isAccepted });
    this.#waits.look();
    return reply;
  }

  async #reply(recorded: ServedRequest, planned: PlannedResponse): Promise<Reply> {
    const { wire, probeTimeoutMs } = this.check.options;
    if (planned === 'slow') await this.check.sleep(MS.slow);
    if (planned === 'hang' || planned === 'reset') {
      const gone = new Promise<void>(resolve => recorded.incoming.onGone(resolve));
      const isGone = planned === 'hang' && (await this.check.within(probeTimeoutMs * HALF, gone));
      return recorded.reset(isGone ? 'ECONNRESET' : 'ABORTED');
    }
    const status = typeof planned === 'number' ? planned : 200;
    const answered = await wire.log.statusOnceStored(status);
    if (answered !== status || typeof planned !== 'object') return recorded.answer(answered);
    const body = new Content(Buffer.from(planned.body));
    return recorded.answer(
      200,
      { headers: { 'content-type': 'application/json' }, body: body.bytes },
      { body },
    );
  }

  /** Answers the tool's questions. */
  #react(callback: AnsweredCallback): void {
    const { message, sha256, requestId } = callback;
    this.callbacks.push(callback);
    // The tool must retry a callback that was not accepted, and may send an accepted one again.
    const first = this.callbacks.find(each => each.isAccepted && each.sha256 === sha256);
    if (first !== callback || !message || this.#questions.length >= MAX_QUESTIONS) return;
    if (message.type === 'oauth') this.check.options.onConsent(message.auth_url);
    if (message.type === 'user_choice') this.#questions.push(this.#choose(requestId, message));
    if (message.type === 'tool_result' && message.subscription)
      this.#questions.push(this.#leaveSubscription());
  }

  /** Selects the default, like a dismissed prompt (TOOL-CHOICE). */
  async #choose(
    question: string,
    { response_url: url, default: value, id }: Extract<Callback, { type: 'user_choice' }>,
  ): Promise<void> {
    const { check, key, thread, wire } = this;
    if (check.isAborted) return;
    if (!isHostOfTool(url, wire.base, check.options.endpoint))
      return check.warn('no selection was sent: response_url has a different host than the tool', [key]);
    wire.log.emit({ kind: 'decided', what: 'choice', by: 'policy', value, question, calls: [key] });
    await wire.respondToChoice(url, { key, thread, signal: check.signal }, { id, selected: value });
  }

  /** Cancels a subscription unless it has ended, and checks whether more events come (TOOL-SUB). */
  async #leaveSubscription(): Promise<void> {
    const { check, callbacks, key } = this;
    const { windowMs } = check;
    const isWatched = check.options.wants('TOOL-SUB');
    const hasEnded = () =>
      callbacks.some(({ message }) => message?.type === 'subscription_event' && message.final === true);
    const firstMs = Math.min(MS.firstEvent, windowMs);
    if (this.call.isFollowed) await this.until(hasEnded, Math.max(firstMs, windowMs * HALF));
    else if (isWatched) await this.waitFor(['subscription_event'], firstMs);
    if (check.isAborted) return;
    if (!hasEnded()) {
      check.recordCancel(key);
      await this.cancel();
    }
    if (isWatched) await this.#watchSilence();
  }

  /** The first event may have been sent before the cancel: a second quiet period shows whether more come. */
  async #watchSilence(): Promise<void> {
    const { check, callbacks, key } = this;
    const quietMs = Math.min(MS.quiet, check.windowMs);
    const before = callbacks.length;
    await check.sleep(quietMs);
    const isQuiet = callbacks.length === before;
    if (!isQuiet) await check.sleep(quietMs);
    check.recordExpiry(key, isQuiet ? quietMs : 2 * quietMs);
  }
}
