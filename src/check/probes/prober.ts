import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Content } from '../../events/content.js';
import type { Body } from '../../events/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../../events/exchange.js';
import type { ServedRequest } from '../../events/log.js';
import type { Caller } from '../../fixtures/check-files.js';
import { isHostOfTool } from '../../http/addresses.js';
import { TransportError } from '../../http/client.js';
import type { Incoming, Reply } from '../../http/route.js';
import { type Callback, type CallbackType, readCallback } from '../../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { CallbackServer, type ListenerOptions, recordCallback } from '../../runtime/callback-server.js';
import { readAcknowledgement, type Wire } from '../../runtime/wire.js';
import { type Clock, finishedWithin, sleep } from '../../system/clock.js';
import { formatDuration } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { CALLBACK_LIMITS, quota } from './quota.js';
import { ToolState } from './tool-state.js';

/** A valid call, and how the sent call differs from it. */
export interface ProbeCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Fields that replace or extend the fields of a valid invocation; undefined removes a field. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** On whose behalf it is sent. Its headers replace or extend those of the check. */
  readonly caller?: Caller | undefined;
  readonly addressed?: (url: string) => string;
  /** Returns the body to send instead of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether to follow its subscription to the end; default: cancel it after the first event. */
  readonly isFollowed?: boolean;
  /** The responses to its callbacks, in order; the last one is repeated. */
  readonly answers?: readonly PlannedResponse[];
}

/** A status, a 200 with a body, a late 200, no response until the connection breaks, or a broken connection at once. */
type PlannedResponse = number | { readonly body: string } | 'slow' | 'hang' | 'reset';

/** A plan that the log records before its calls. */
export interface ProbePlan {
  readonly id: string;
  /** Requirements that its calls can show. */
  readonly checks: readonly RequirementId[];
  readonly case?: number;
  /** Whether the calls were made before, and are repeated alone. */
  readonly again?: true;
  /** Whether the calls are repeated on a new server, after the first one exited. */
  readonly newServer?: true;
}

interface ProberOptions {
  readonly endpoint: string;
  /** Its log receives all events. */
  readonly wire: Wire;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The time limit of each observation, in ms. */
  readonly probeTimeoutMs: number;
  /** Whether a requirement is selected. A probe that tests no selected requirement is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
}

/** Maximum number of probes, and of calls of one probe, at a time. Most only wait, but a tool on a small machine must answer in time. */
export const PROBE_CONCURRENCY = 6;

const MS = {
  /** After the exit of a server, its connections are broken within this time. */
  broken: 50,
  /** The time limit for a tool that was silent for a whole window. */
  silent: 1_000,
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

/** One check of one tool: it makes calls, receives and records their callbacks, and answers them as planned. */
export class Prober {
  readonly calls: SentCall[] = [];
  readonly tool: ToolState;
  readonly isWithinQuota: (size: number) => boolean;
  /** Ends every wait, when the user stops the check and when the prober is closed. */
  readonly signal: AbortSignal;
  readonly #closing = new AbortController();
  #callbacks: CallbackServer | undefined;
  #hasExpired = false;
  #shortened = '';

  constructor(readonly options: ProberOptions) {
    const { clock, wire } = options;
    const { log, base } = wire;
    // After the end of the server, its connections break; then every wait ends, since it answers nothing more.
    this.tool = new ToolState(log, clock, base, () => clock.after(MS.broken, () => this.#closing.abort()));
    this.isWithinQuota = quota(log, CALLBACK_LIMITS.run, 'in all');
    this.signal = AbortSignal.any([options.signal, this.#closing.signal]);
    setMaxListeners(0, this.signal);
  }

  /** @throws ProtocolCliError `port-in-use`. */
  async listen(options: ListenerOptions): Promise<void> {
    const { log } = this.options.wire;
    const isWithinQuota = quota(log, CALLBACK_LIMITS.refused, 'that were refused, or to a wrong address');
    const isOpen = { isTold: isWithinQuota, findsChanged: true }; // TOOL-OPAQUE
    this.#callbacks = await CallbackServer.start(log, options, isOpen);
  }

  async close(): Promise<void> {
    if (!this.tool.isGone && this.#shortened !== '') this.warn(this.#shortened);
    this.#closing.abort();
    this.tool.close();
    await this.#callbacks?.server.close();
  }

  /** Returns the callback URL of a call. */
  urlOf(call: SentCall): string {
    const receive: typeof call.receive = (...request) => call.receive(...request);
    return this.#callbacks?.issue({ calls: [call.key], receive }).url ?? '';
  }

  /** Whether nothing more can be found out: the user stopped the check, or the server ended. */
  get isAborted(): boolean {
    return this.options.signal.aborted || this.tool.hasEnded;
  }

  /** How long an observation is waited for, in ms; shorter if the tool sent no callback within a whole window. */
  get windowMs(): number {
    const { probeTimeoutMs } = this.options;
    return this.#hasExpired && !this.tool.hasCallback ? Math.min(MS.silent, probeTimeoutMs) : probeTimeoutMs;
  }

  /** The time limit of requests, in ms: shorter until the tool has answered an invocation. */
  get requestLimits(): { readonly timeoutMs: number; readonly signal: AbortSignal } {
    const { signal } = this;
    return { timeoutMs: this.tool.hasAnswer ? this.options.probeTimeoutMs : this.windowMs, signal };
  }

  #expire(): void {
    const before = this.windowMs;
    this.#hasExpired = true;
    if (this.windowMs < before)
      this.#shortened = `no callback came to a callback URL within ${formatDuration(before)} (--probe-timeout); until one came, each further call was awaited for ${formatDuration(this.windowMs)}`;
  }

  /** Waits at most `ms`; returns whether the promise resolved in time. */
  within(ms: number, promise: Promise<unknown>): Promise<boolean> {
    return finishedWithin(promise, ms, { clock: this.options.clock, signal: this.signal });
  }

  sleep(ms: number): Promise<void> {
    return sleep(ms, { clock: this.options.clock, signal: this.signal });
  }

  /** Makes the calls of one plan. They are named by the plan and counted, so that each run has the same names. */
  client(plan: ProbePlan): ProbeClient {
    const name = plan.newServer ? `${plan.id} alone` : plan.id;
    let count = 0;
    const send = (call: ProbeCall) => this.send(plan, `${name} ${++count}`, call);
    const call = async (each: ProbeCall) => {
      const sent = send(each);
      await sent.finish();
      return sent;
    };
    return { send, call };
  }

  /** Sends an invocation once, unless nothing more can be found out. */
  send(plan: ProbePlan, key: string, call: ProbeCall): SentCall {
    if (!this.isAborted) this.recordPlan(plan, [key]);
    const sent = new SentCall(this, key, call, plan);
    if (!this.isAborted) this.calls.push(sent);
    return sent;
  }

  warn(message: string, calls?: string[]): void {
    if (!this.isAborted) this.options.wire.log.emit({ kind: 'warned', ...(calls && { calls }), message });
  }

  async cancel(call: Pick<SentCall, 'key' | 'thread' | 'id' | 'wire'>): Promise<void> {
    if (!this.isAborted) await call.wire.cancelToolCall(call, this.requestLimits);
  }

  /** Returns the status of the response; null without one. @param wire has the headers of the user whose thread it is */
  async closeThread(thread: string, wire = this.options.wire): Promise<number | null> {
    if (this.isAborted) return null;
    return (await wire.closeThread(thread, this.requestLimits)).status;
  }

  /** @param calls made for the plan; none when it is announced */
  recordPlan({ id, checks, case: index, again, newServer }: ProbePlan, calls?: string[]): void {
    this.options.wire.log.emit({
      kind: 'planned',
      by: 'probe',
      plan: id,
      checks: [...checks],
      ...(index !== undefined && { case: index }),
      ...(again && { again }),
      ...(newServer && { newServer }),
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
    if (afterMs >= this.options.probeTimeoutMs) this.#expire();
  }
}

/** Makes the calls of one plan. */
export interface ProbeClient {
  /** Sends an invocation once, and answers the tool's questions. */
  readonly send: (call: ProbeCall) => SentCall;
  /** The same, and waits for its end. */
  readonly call: (call: ProbeCall) => Promise<SentCall>;
}

interface ReceivedCallback {
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
  readonly callbacks: ReceivedCallback[] = [];
  /** The invocation that was sent; null if malformed. */
  readonly sent: Pick<ProbeCall, 'operation' | 'arguments' | 'caller'> | null;
  /** Sends its requests, with the headers of its caller. */
  readonly wire: Wire;
  /** Resolves when its invocation has ended, with the time until the acknowledgement; null without one. */
  readonly acknowledged: Promise<number | null>;
  /** Whether the server may have received the invocation. */
  isDelivered = true;
  /** The status of its acknowledgement, once it came. */
  status: number | null = null;
  readonly #begun: number;
  readonly #isWithinQuota: (size: number) => boolean;
  readonly #waiting = new Set<() => void>();
  readonly #questions: Promise<unknown>[] = [];
  #received = 0;

  constructor(
    private readonly prober: Prober,
    readonly key: string,
    readonly call: ProbeCall,
    readonly plan: ProbePlan,
  ) {
    const { fields = {}, addressed = url => url, body = JSON.stringify, operation, arguments: args } = call;
    const { userId, headers } = call.caller ?? {};
    const { clock, wire } = prober.options;
    this.id = String(fields['id'] ?? `call_${randomUUID()}`);
    this.thread = String(fields['group_id'] ?? `thread_${randomUUID()}`);
    this.#isWithinQuota = quota(wire.log, CALLBACK_LIMITS.call, 'for one call', [key]);
    const invocation: Record<string, unknown> = {
      operation,
      arguments: args,
      id: this.id,
      call_id: `model_${randomUUID()}`,
      group_id: this.thread,
      callback_url: addressed(prober.urlOf(this)),
      user_id: userId,
      ...fields,
    };
    const isMalformed =
      call.body || typeof invocation['operation'] !== 'string' || !isRecord(invocation['arguments']);
    this.sent = isMalformed ? null : { operation, arguments: args, caller: call.caller };
    this.wire = headers ? wire.withHeaders({ ...wire.headers, ...headers }) : wire;
    this.#begun = clock.runnable();
    this.acknowledged = this.#post(body(invocation));
  }

  /** How long after the invocation the server exited, in ms; 0 while it runs. */
  get msUntilExit(): number {
    return (this.prober.tool.exitedAt ?? this.#begun) - this.#begun;
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

  /** Resolves when `isEnough` returns true, which may be at once. */
  until(isEnough: () => boolean): Promise<void> {
    if (isEnough()) return Promise.resolve();
    return new Promise(resolve => {
      const look = () => {
        if (!isEnough()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  /** Waits at most `ms` (default: the window) for one of these messages. */
  waitFor(types: readonly CallbackType[], ms = this.prober.windowMs): Promise<boolean> {
    const message = this.until(() => this.hasReceived(...types));
    return this.prober.within(ms, message);
  }

  /** Waits at most `ms` (default: the window) for callbacks; records an expiry and returns false if they do not come. */
  async expect(isEnough: () => boolean, ms = this.prober.windowMs): Promise<boolean> {
    const isSeen = await this.prober.within(ms, this.until(isEnough));
    if (!isSeen) this.prober.recordExpiry(this.key, ms);
    return isSeen;
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

  /** The log has the outcome. Returns the time until the answer. */
  async #post(body: string): Promise<number | null> {
    const { key, thread, prober, wire } = this;
    const { clock, endpoint } = prober.options;
    if (prober.isAborted) return null;
    try {
      const { status } = await wire.send(
        { purpose: 'invocation', calls: [key], thread },
        {
          method: 'POST',
          url: endpoint,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(body),
          read: readAcknowledgement,
          ...prober.requestLimits,
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
    const { prober, call, key, thread } = this;
    if (!this.#isWithinQuota(body.size) || !prober.isWithinQuota(body.size)) return { status: 429 };
    const { clock, wire } = prober.options;
    const at = clock.runnable();
    const recorded = recordCallback(wire.log, incoming, { calls: [key], thread, body });
    const reading = readCallback(body.json);
    const message = reading.ok ? reading.message : null;
    const { answers = [200] } = call;
    const planned = answers[Math.min(this.#received++, answers.length - 1)] ?? 200;
    if (message?.type === 'tool_result') await prober.within(MS.acknowledged, this.acknowledged);
    const reply = await this.#reply(recorded, message || planned !== 200 ? planned : 400);
    const isAccepted = reply !== 'reset' && reply.status === 200;
    this.#react({ requestId: recorded.leg, at, message, sha256: body.sha256, isAccepted });
    for (const look of [...this.#waiting]) look();
    return reply;
  }

  async #reply(recorded: ServedRequest, planned: PlannedResponse): Promise<Reply> {
    const { wire, probeTimeoutMs } = this.prober.options;
    if (planned === 'slow') await this.prober.sleep(MS.slow);
    if (planned === 'hang' || planned === 'reset') {
      const gone = new Promise<void>(resolve => recorded.incoming.onGone(resolve));
      const isGone = planned === 'hang' && (await this.prober.within(probeTimeoutMs * HALF, gone));
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
  #react(callback: ReceivedCallback): void {
    const { message, sha256, requestId } = callback;
    this.callbacks.push(callback);
    // The tool must retry a callback that was not accepted, and may send an accepted one again.
    const first = this.callbacks.find(each => each.isAccepted && each.sha256 === sha256);
    if (first !== callback || !message || this.#questions.length >= MAX_QUESTIONS) return;
    if (message.type === 'oauth') this.prober.options.onConsent(message.auth_url);
    if (message.type === 'user_choice') this.#questions.push(this.#choose(requestId, message));
    if (message.type === 'tool_result' && message.subscription)
      this.#questions.push(this.#leaveSubscription());
  }

  /** Selects the default, like a dismissed prompt (TOOL-CHOICE). */
  async #choose(
    question: string,
    { response_url: url, default: value, id }: Extract<Callback, { type: 'user_choice' }>,
  ): Promise<void> {
    const { prober, key, thread, wire } = this;
    if (prober.isAborted) return;
    if (!isHostOfTool(url, wire.base, prober.options.endpoint))
      return prober.warn('no selection was sent: response_url has a different host than the tool', [key]);
    wire.log.emit({ kind: 'decided', what: 'choice', by: 'policy', value, question, calls: [key] });
    await wire.respondToChoice(url, { key, thread, signal: prober.signal }, { id, selected: value });
  }

  /** Cancels a subscription unless it has ended, and checks whether more events come (TOOL-SUB). */
  async #leaveSubscription(): Promise<void> {
    const { prober, callbacks, key } = this;
    const { windowMs } = prober;
    const isWatched = prober.options.wants('TOOL-SUB');
    const hasEnded = () =>
      callbacks.some(({ message }) => message?.type === 'subscription_event' && message.final === true);
    const firstMs = Math.min(MS.firstEvent, windowMs);
    if (this.call.isFollowed) await prober.within(Math.max(firstMs, windowMs * HALF), this.until(hasEnded));
    else if (isWatched) await this.waitFor(['subscription_event'], firstMs);
    if (prober.isAborted) return;
    if (!hasEnded()) {
      prober.recordCancel(key);
      await prober.cancel(this);
    }
    if (isWatched) await this.#watchSilence();
  }

  /** The first event may have been sent before the cancel: a second quiet period shows whether more come. */
  async #watchSilence(): Promise<void> {
    const { prober, callbacks, key } = this;
    const quietMs = Math.min(MS.quiet, prober.windowMs);
    const before = callbacks.length;
    await prober.sleep(quietMs);
    const isQuiet = callbacks.length === before;
    if (!isQuiet) await prober.sleep(quietMs);
    prober.recordExpiry(key, isQuiet ? quietMs : 2 * quietMs);
  }
}
