import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from '../../events/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { checkArguments } from '../../runtime/check-call.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import type { Wire } from '../../runtime/wire.js';
import { formatDuration } from '../../util/text.js';
import type { Run } from '../run.js';
import { askForArguments, readArguments } from './arguments.js';
import { ToolLocator } from './locate-tool.js';
import type { CallOutput } from './output.js';
import {
  type CallIdentity,
  type InvokeOptions,
  type InvokePlan,
  invocationOf,
  NOTICE_AFTER_MS,
} from './plan.js';
import type { CallProtocol, CallRequest, EndedCall, FoundTool } from './protocol.js';
import type { Chooser } from './questions.js';
import { previewOf } from './request.js';

/** After a cancel, shows callbacks that are already in transit; with `--linger` for at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** How long a terminal shows what a tool sends right after the result, such as a second result; in a pipe nobody waits for that. */
const AFTER_RESULT_MS = 250;

/** Where a call is sent, and its arguments. */
interface PreparedCall {
  readonly tool: Pick<Tool, 'name' | 'annotations'>;
  readonly args: Record<string, unknown>;
  readonly wire: Wire;
  readonly endpoint: string;
}

/** Checks the arguments of a call, makes calls, and notifies the tool at their end. */
export class RapProtocol implements CallProtocol {
  readonly #options: InvokeOptions;
  readonly #locator: ToolLocator;
  readonly #notes: Warning[] = [];
  /** What the server wrote last before the first call. */
  #linesBefore: readonly string[] = [];
  /** Started by the first call. */
  #runtime: Promise<Runtime> | undefined;

  constructor(
    private readonly plan: InvokePlan,
    private readonly run: Run,
    private readonly output: CallOutput,
    private readonly chooser: Chooser,
  ) {
    this.#options = plan.options;
    this.#locator = new ToolLocator(plan, run, output, chooser);
  }

  notes(): readonly Warning[] {
    return this.#notes;
  }

  explain(exchange: Exchange): Trouble | null {
    const { chooser } = this;
    const failure = failureOf(exchange, this.output.history.untracked);
    if (failure?.code === 'timeout' && this.plan.target?.kind === 'command' && !this.#options.verbose)
      return this.#withServerOutput(failure);
    if (failure?.code !== 'decision-needed') return failure;
    if (this.#options.repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (chooser.by === 'person') return failure;
    const message = `--choose ${chooser.unmatched(exchange)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }

  /** What the server wrote during the call is the most likely reason. */
  #withServerOutput(failure: Trouble): Trouble {
    const { hint = '' } = failure;
    const faults = this.#locator.lastLines();
    if (isDeepStrictEqual(faults, this.#linesBefore))
      return { ...failure, hint: `${hint} What the server wrote may say why: add -v.`.trim() };
    return {
      ...failure,
      faults,
      hint: `The server's last output may say why (-v shows all of it). ${hint}`.trim(),
    };
  }

  async find(): Promise<FoundTool> {
    const prepared = await this.#prepare();
    const { tool, args } = prepared;
    return {
      tool,
      args,
      preview: () => previewOf(prepared, this.plan),
      call: request => this.#call(prepared, request),
    };
  }

  async #prepare(): Promise<PreparedCall> {
    const { target, words } = this.plan;
    if (target?.kind === 'endpoint') return this.#prepareUnchecked(target.url);
    const { tool, wire, toolset, notes } = await this.#locator.locate(target);
    const args = this.#asksForArguments
      ? await askForArguments(tool, this.chooser.prompts)
      : (await readArguments(words, this.run.terminal.stdin))(tool.inputSchema);
    const faults = this.#options.validate ? await checkArguments(tool, args) : [];
    this.#notes.push(...notes, ...faults, ...wire.withheldFrom(toolset.endpoint));
    return { tool, args, wire, endpoint: toolset.endpoint };
  }

  get #asksForArguments(): boolean {
    const { operation, words } = this.plan;
    return operation === undefined && words.words.length === 0 && words.whole === undefined;
  }

  /** For `--endpoint`. */
  async #prepareUnchecked(endpoint: string): Promise<PreparedCall> {
    const { operation, words } = this.plan;
    const message =
      '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked';
    this.#notes.push({ id: 'RT-OP', message });
    const args = (await readArguments(words, this.run.terminal.stdin))(null);
    return { tool: { name: operation ?? '' }, args, wire: await this.#locator.wireTo(endpoint), endpoint };
  }

  /** Calls, reports the result immediately, waits as long as `--follow` and `--linger` require, and notifies the tool. */
  async #call(
    { wire, endpoint, tool, args }: PreparedCall,
    { identity, denial, pausesForUser, report }: CallRequest,
  ): Promise<EndedCall> {
    const { chooser, run } = this;
    const { timeout: timeoutMs, retries, lenientAck = false } = this.#options;
    if (!this.#runtime) this.#linesBefore = this.#locator.lastLines();
    this.#runtime ??= this.#startRuntime();
    const runtime = await this.#runtime;
    const invocation = runtime.addressed(invocationOf(identity, tool.name, args));
    const stopCancelling = denial ? () => {} : run.cancelWhenInterrupted(invocation.id);
    const stopWaiting = (pending: Exchange) => chooser.isLeftOpen(pending);
    const call = { endpoint, invocation, retries, lenientAck, timeoutMs, pausesForUser, stopWaiting };
    const made = denial
      ? runtime.deny(invocation, denial)
      : await runtime.invoke(wire, call, chooser).finally(this.#announceWait(invocation));
    await report({ exchange: made, trouble: this.explain(made) });
    const silence = denial ? null : await this.#waitAfterResult(made);
    stopCancelling();
    const exchange = this.output.history.exchanges.get(made.key) ?? made;
    await this.#notifyEnd(wire, exchange, identity);
    return { exchange, trouble: this.explain(exchange) ?? silence }; // callbacks after the cancel do not change the exit status
  }

  async #startRuntime(): Promise<Runtime> {
    const { log, clock, onStop, signal, redactor } = this.run;
    const { history, keepsBodies: keepBodies } = this.output;
    const listener = { ...this.plan.listener, keepBodies };
    const runtime = await Runtime.start({ log, history, clock, listener, onSecret: redactor.add });
    onStop(() => runtime.close());
    onStop(async () => (signal.aborted ? undefined : this.#locator.settleServers()));
    return runtime;
  }

  /** Prints what a long wait is for: the usual reason is a tool that cannot reach the callback URL. */
  #announceWait({ id, callback_url }: Pick<Invocation, 'id' | 'callback_url'>): () => void {
    const { timeout, quiet, repeat } = this.#options;
    const { history, isDrawn } = this.output;
    if (quiet || isDrawn || repeat !== undefined) return () => {};
    const waited = formatDuration(NOTICE_AFTER_MS) + (timeout === 0 ? '' : ` of ${formatDuration(timeout)}`);
    const text = `no callback has arrived yet at ${new URL(callback_url).origin} · ${waited} · Ctrl-C stops\n`;
    return this.run.clock.after(NOTICE_AFTER_MS, () => {
      if (history.exchanges.get(id)?.arrivals.length === 0) this.run.stderr.write(text);
    });
  }

  /** Waits as `--follow` and `--linger` require. Returns the trouble of a subscription that fell silent. */
  async #waitAfterResult({ key, settled }: Exchange): Promise<Trouble | null> {
    const { follow, linger = 0, repeat } = this.#options;
    const { log, signal, terminal } = this.run;
    const silence = follow ? await this.#followEvents(key) : null;
    if (linger === 0 && settled?.by === 'result' && repeat === undefined && terminal.stdout.isTTY === true)
      await delay(AFTER_RESULT_MS, null, { signal }).catch(() => {});
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return silence;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
    return silence;
  }

  /** Waits for the last event of a subscription. A `--timeout` that the user gave limits the wait for each; then it is canceled. */
  async #followEvents(key: string): Promise<Trouble | null> {
    const { timeout: ms, given } = this.#options;
    const { log, clock, terminal } = this.run;
    const limit = given.includes('--timeout') && ms > 0 ? { clock, ms } : undefined;
    const readerGone = new Promise<null>(resolve => terminal.stdout.once('error', () => resolve(null))); // as with `| head -1`
    const isOver = await Promise.race([subscriptionEnd(log, this.output.history, key, limit), readerGone]);
    if (isOver !== false) return null;
    log.emit({ kind: 'decided', what: 'cancel', by: 'flag', calls: [key] });
    return {
      code: 'timeout',
      message: `the subscription was canceled: no event came for ${formatDuration(ms)}, and the last one (final: true) is missing`,
      hint: 'To wait for events without a limit, leave --timeout out.',
    };
  }

  /** Only discovery gives the address for notices. */
  async #notifyEnd(wire: Wire, exchange: Exchange, { isOurThread }: CallIdentity): Promise<void> {
    const { repeat, close, linger = AFTER_CANCEL_MS.usual } = this.#options;
    if (this.plan.target?.kind === 'endpoint') return;
    const waitForCallbacks =
      repeat === undefined ? () => delay(Math.min(linger, AFTER_CANCEL_MS.most)) : undefined;
    await wire.endCall(exchange, { isOurThread, closes: close !== false, waitForCallbacks });
  }
}
