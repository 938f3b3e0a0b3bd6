import { setMaxListeners } from 'node:events';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Wire } from '../../runtime/wire.js';
import { type Clock, finishedWithin, sleep } from '../../system/clock.js';
import { formatDuration } from '../../util/text.js';
import type { ProbePlan } from './probe-call.js';
import { CALLBACK_LIMITS, quota } from './quota.js';
import { ToolState } from './tool-state.js';

export interface CheckOptions {
  readonly endpoint: string;
  /** Its log receives all events. */
  readonly wire: Wire;
  readonly clock: Clock;
  /** The time limit of each observation, in ms. */
  readonly probeTimeoutMs: number;
  /** Whether a requirement is selected. A probe that tests no selected requirement is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
  readonly signal: AbortSignal;
}

const MS = {
  /** After the exit of a server, its connections are broken within this time. */
  broken: 50,
  /** The time limit for a tool that was silent for a whole window. */
  silent: 1_000,
};

/** After this many windows without a callback a tool counts as silent. Only cases are called alone; beside other calls, one window is enough. */
const SILENT_WINDOWS = 3;

/** One check of one tool while it runs: how long it waits, when it ends, and what it records of its plans and of what did not come. */
export class LiveCheck {
  /** What the events show of the tool. */
  readonly tool: ToolState;
  /** Counts a callback. */
  readonly isWithinQuota: (size: number) => boolean;
  /** Ends every wait, when the user stops the check and when the check is closed. */
  readonly signal: AbortSignal;
  readonly #closing = new AbortController();
  #silentWindows = 0;
  #shortened = '';

  constructor(readonly options: CheckOptions) {
    const { clock, wire } = options;
    const { log, base } = wire;
    // After the end of the server, its connections break; then every wait ends, since it answers nothing more.
    this.tool = new ToolState(log, clock, base, () => clock.after(MS.broken, () => this.#closing.abort()));
    this.isWithinQuota = quota(log, CALLBACK_LIMITS.run, 'in all');
    this.signal = AbortSignal.any([options.signal, this.#closing.signal]);
    setMaxListeners(0, this.signal);
  }

  /** Ends the check, and warns if it shortened its waits. */
  close(): void {
    if (!this.tool.isGone && this.#shortened !== '') this.warn(this.#shortened);
    this.#closing.abort();
    this.tool.close();
  }

  /** Whether nothing more can be found out: the user stopped the check, or the server ended. */
  get isAborted(): boolean {
    return this.options.signal.aborted || this.tool.hasEnded;
  }

  /** How long an observation is waited for, in ms; shorter if the tool sent no callback within a whole window (cases: three windows). */
  get windowMs(): number {
    const { probeTimeoutMs } = this.options;
    return this.#silentWindows >= SILENT_WINDOWS && !this.tool.hasCallback
      ? Math.min(MS.silent, probeTimeoutMs)
      : probeTimeoutMs;
  }

  /** The time limit of requests, in ms: shorter until the tool has answered an invocation. */
  get requestLimits(): { readonly timeoutMs: number; readonly signal: AbortSignal } {
    const { signal } = this;
    return { timeoutMs: this.tool.hasAnswer ? this.options.probeTimeoutMs : this.windowMs, signal };
  }

  #expire(isCase: boolean): void {
    const before = this.windowMs;
    this.#silentWindows += isCase ? 1 : SILENT_WINDOWS;
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

  warn(message: string, calls?: string[]): void {
    if (!this.isAborted) this.options.wire.log.emit({ kind: 'warned', ...(calls && { calls }), message });
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
  recordExpiry(key: string, afterMs: number, isCase = false): void {
    if (this.isAborted) return;
    this.options.wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
    if (afterMs >= this.options.probeTimeoutMs) this.#expire(isCase);
  }
}
