import { setMaxListeners } from 'node:events';
import type { Body } from '../../events/events.js';
import type { Incoming } from '../../http/route.js';
import { CallbackServer, type ListenerOptions } from '../../runtime/callback-server.js';
import { finishedWithin, sleep } from '../../system/clock.js';
import { formatDuration } from '../../util/text.js';
import type { CallingCheck, CallOptions, ProbeCall, ProbePlan } from './probe-call.js';
import { CALLBACK_LIMITS, quota } from './quota.js';
import { SentCall } from './sent-call.js';
import { ToolState } from './tool-state.js';

interface ProberOptions extends CallOptions {
  readonly signal: AbortSignal;
}

/** Maximum number of probes, and of calls of one probe, at a time. Most only wait, but a tool on a small machine must answer in time. */
export const PROBE_CONCURRENCY = 6;

const MS = {
  /** After the exit of a server, its connections are broken within this time. */
  broken: 50,
  /** The time limit for a tool that was silent for a whole window. */
  silent: 1_000,
};

/**
 * One check of one tool: it makes calls, and records what it plans, cancels, and what did not come. It waits for a time or a request; each
 * call waits for its own callbacks.
 */
export class Prober implements CallingCheck {
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
    const sent = new SentCall(this, key, call, plan);
    if (this.isAborted) return sent;
    this.recordPlan(plan, [key]);
    sent.post(this.#urlOf(sent));
    this.calls.push(sent);
    return sent;
  }

  /** Returns the callback URL of a call. */
  #urlOf(call: SentCall): string {
    const receive = (incoming: Incoming, body: Body) => call.receive(incoming, body);
    return this.#callbacks?.issue({ calls: [call.key], receive }).url ?? '';
  }

  warn(message: string, calls?: string[]): void {
    if (!this.isAborted) this.options.wire.log.emit({ kind: 'warned', ...(calls && { calls }), message });
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
