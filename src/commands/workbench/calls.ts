import { setMaxListeners } from 'node:events';
import type { CallLog } from '../../events/call-log.js';
import { canBeCanceled } from '../../events/exchange.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Invocation } from '../../protocol/invocation.js';
import { judgeArguments } from '../../runtime/check-call.js';
import type { Answering, Runtime } from '../../runtime/runtime.js';
import type { ActionResult } from '../../tui/screen/effects.js';
import type { Draft, RunOptions, Sent } from '../../tui/workbench/model.js';
import { forEachConcurrently } from '../../util/collections.js';
import { messageOf, ProtocolCliError } from '../../util/errors.js';
import type { Consent, Denial } from '../consent.js';
import { type InvokeOptions, identityOf, invocationOf } from '../invoke/plan.js';
import type { Run } from '../run.js';
import { exitFact, type ServerExit } from '../started-servers.js';
import { listenerOf } from '../target.js';
import type { Offer, Servers } from './servers.js';

export function done(text: string): ActionResult {
  return { text, isBad: false };
}

/** @param why a message, or an error, which is put on one line with its hint */
export function failed(why: unknown): ActionResult {
  return { text: typeof why === 'string' ? why : reasonOf(why), isBad: true };
}

function reasonOf(error: unknown): string {
  const { message, hint } = error instanceof ProtocolCliError ? error : { message: messageOf(error) };
  return hint === undefined ? message : `${message}. ${hint}`;
}

/** Time limit in ms for notifying tools when the workbench closes. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Maximum number of notices sent at the same time. */
const CONCURRENT_NOTICES = 64;

interface CallRecord {
  /** The id of the called server. */
  readonly server: string;
  /** Null if the call was denied. */
  readonly offer: Offer | null;
  readonly isValidated: boolean;
}

/** The calls of this session: starts them, answers their questions, and ends them. */
export class Calls {
  /** Data about calls that is not in the log. A late result may still open a subscription, so records are never removed. */
  readonly #records = new Map<string, CallRecord>();
  /** Calls that are being prepared. */
  readonly #preparing = new Set<Promise<Sent>>();
  readonly #questions = new Map<UserChoice, (selected: number | null) => void>();
  /** One listener for the callbacks of all calls, opened with the first call because it takes time to load. */
  #runtime: Promise<Runtime> | null = null;
  #isOver = false;

  constructor(
    private readonly run: Run,
    private readonly callLog: CallLog,
    private readonly servers: Servers,
    private readonly options: InvokeOptions,
    private readonly consent: Consent,
  ) {}

  record(key: string): CallRecord | undefined {
    return this.#records.get(key);
  }

  /** Applies the policy, validates the arguments (RT-ARGS), and starts the call. Never rejects. */
  start(draft: Draft, options: RunOptions): Promise<Sent> {
    const starting = this.#start(draft, options)
      .catch((error): Sent => ({ kind: 'refused', reason: reasonOf(error) }))
      .finally(() => this.#preparing.delete(starting));
    this.#preparing.add(starting);
    return starting;
  }

  async #start(draft: Draft, { validates, isAgreed = false }: RunOptions): Promise<Sent> {
    const offer = this.servers.offer(draft.server, draft.operation);
    if (typeof offer === 'string') return { kind: 'refused', reason: offer };
    const verdict = this.consent.judge(offer.tool);
    if (typeof verdict === 'object') {
      await this.#deny(draft, verdict);
      return { kind: 'refused', reason: verdict.reason };
    }
    if (verdict === 'ask' && !isAgreed)
      return { kind: 'refused', reason: 'it is marked destructive and was not confirmed' };
    const { faults, warnings } = validates
      ? await judgeArguments(offer.tool, draft.arguments)
      : { faults: [], warnings: [] };
    if (faults.length > 0) return { kind: 'invalid', faults };
    const key = await this.#send(draft, offer, validates);
    for (const { message } of warnings) this.#warn(key, message);
    return { kind: 'sent', key };
  }

  async decline(draft: Draft): Promise<ActionResult> {
    await this.#deny(draft, { by: 'person', reason: 'the user said no' });
    return done('not called, which is on record');
  }

  needsConsent(server: string, operation: string): boolean {
    const offer = this.servers.offer(server, operation);
    return typeof offer !== 'string' && this.consent.judge(offer.tool) === 'ask';
  }

  answer(key: string, leg: string, selected: number): ActionResult | null {
    const exchange = this.callLog.history.exchanges.get(key);
    const question = exchange?.questions.find(each => each.leg === leg)?.message;
    if (question?.type !== 'user_choice') return failed('there is no such question');
    if (question.choices[selected] === undefined) return failed('there is no such choice');
    const resolve = this.#questions.get(question);
    resolve?.(selected);
    return resolve ? null : failed('no call waits for this answer any more');
  }

  /** Cancels a call or its subscription, and notifies its tool. */
  async cancel(key: string): Promise<ActionResult> {
    const exchange = this.callLog.history.exchanges.get(key);
    const { offer } = this.#records.get(key) ?? {};
    if (!exchange || !offer) return failed('this call was not sent in this session');
    if (!canBeCanceled(exchange)) return failed('there is nothing to cancel: it is over');
    const { status, reason } = await offer.wire.cancelCall(exchange, 'person');
    if (status === 200) return done('canceled, and the tool was notified');
    const why = status === null ? reason : `it answered ${status}`;
    return failed(`canceled locally; could not notify the tool: ${why}`);
  }

  /** @param exit null if the user restarts the server */
  endPendingCalls(server: string, exit: ServerExit | null): void {
    const { log } = this.run;
    const pending = [...this.callLog.history.exchanges.values()].filter(
      ({ endpoint, settled }) => endpoint === server && settled === null,
    );
    if (exit) return void log.emit(exitFact(exit, pending));
    const about = { kind: 'decided', what: 'give-up', by: 'policy' } as const;
    for (const { key } of pending) log.emit({ ...about, value: 'the server was restarted', calls: [key] });
  }

  /** Prevents further calls. Cancels pending calls, closes the threads created here, then the listener. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#preparing); // calls sent in the meantime are canceled too
    const signal = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
    setMaxListeners(0, signal); // each notice adds a listener
    const sent = [...this.#records].flatMap(([key, { offer }]) => {
      const exchange = this.callLog.history.exchanges.get(key);
      return offer && exchange ? [{ offer, exchange }] : [];
    });
    const pending = sent.filter(({ exchange }) => canBeCanceled(exchange));
    await forEachConcurrently(pending, CONCURRENT_NOTICES, ({ offer, exchange }) =>
      offer.wire.cancelCall(exchange, 'person', { signal }),
    );
    const threads = new Set(sent.map(({ exchange }) => exchange.invocation.group_id));
    const ours = this.options.groupId === undefined ? [...threads] : [];
    const notices = ours.flatMap(thread => this.servers.found.map(found => ({ thread, ...found })));
    await forEachConcurrently(notices, CONCURRENT_NOTICES, async ({ thread, wire }) => {
      if (!signal.aborted) await wire.closeThread(thread, { signal });
    });
    const runtime = await this.#runtime?.catch(() => null);
    await runtime?.close();
  }

  async #deny(draft: Draft, denial: Denial): Promise<void> {
    const runtime = await this.#open();
    const invocation = this.#address(draft, runtime);
    this.#records.set(invocation.id, { server: draft.server, offer: null, isValidated: true });
    runtime.deny(invocation, denial);
  }

  /** Resolves to the key of the call when its first event is in the log. */
  async #send(draft: Draft, offer: Offer, isValidated: boolean): Promise<string> {
    const runtime = await this.#open();
    const invocation = this.#address(draft, runtime);
    const { id: key } = invocation;
    this.#records.set(key, { server: draft.server, offer, isValidated });
    const { timeout: timeoutMs, retries, lenientAck = false } = this.options;
    const { endpoint } = offer.discovered.toolset;
    let stopListening = () => {};
    const begun = new Promise<void>(resolve => {
      stopListening = this.run.log.subscribe(
        event => event.kind === 'request' && event.calls?.includes(key) && resolve(),
      );
    });
    const call = { endpoint, invocation, timeoutMs, retries, lenientAck };
    const over = runtime.invoke(offer.wire, call, this.#answering);
    await Promise.race([begun, over]).finally(stopListening);
    over.catch(error => this.#warn(key, reasonOf(error)));
    return key;
  }

  #warn(key: string, message: string): void {
    this.run.log.emit({ kind: 'warned', message, calls: [key] });
  }

  /** Builds an invocation from a draft, in the thread of all calls or in a new one (RT-ID). */
  #address({ operation, arguments: args }: Draft, runtime: Runtime): Invocation {
    return runtime.addressed(invocationOf(identityOf(this.options), operation, { ...args }));
  }

  /** Retries if the listener could not be opened before. @throws Error if the workbench is closing. */
  async #open(): Promise<Runtime> {
    const refuseIfOver = () => {
      if (this.#isOver) throw new Error('the workbench is being closed');
    };
    refuseIfOver();
    this.#runtime ??= this.#startRuntime().catch(error => {
      this.#runtime = null;
      throw error;
    });
    const runtime = await this.#runtime;
    refuseIfOver();
    return runtime;
  }

  async #startRuntime(): Promise<Runtime> {
    const { Runtime } = await import('../../runtime/runtime.js');
    const { log, clock, redactor } = this.run;
    const { history } = this.callLog;
    const onSecret = redactor.add;
    return Runtime.start({ log, history, clock, listener: listenerOf(this.options), onSecret });
  }

  readonly #answering: Answering = {
    by: 'person',
    select: (question, signal) =>
      new Promise<number | null>(resolve => {
        this.#questions.set(question, resolve);
        if (signal.aborted) resolve(null);
        signal.addEventListener('abort', () => resolve(null));
      }).finally(() => this.#questions.delete(question)),
  };
}
