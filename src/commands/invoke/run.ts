import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { type HttpClient, lazyClient } from '../../http/client.js';
import { createNodeClient } from '../../http/node-client.js';
import { isWildcard } from '../../http/server.js';
import type { Warning } from '../../protocol/requirements.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { takeLeave } from '../../runtime/notices.js';
import { asksForAnnotations, type Policy } from '../../runtime/policy.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { ProtocolCliError } from '../../util/errors.js';
import { usage } from '../options.js';
import { StartedServers } from '../started-server.js';
import {
  type ExitStatus,
  interruption,
  isSomebodyThere,
  type OnStop,
  statusOfFailure,
  statusOfOutcome,
  type Terminal,
} from '../terminal.js';
import { type Observation, observe } from './output.js';
import { freshIds, type Identity, type InvokePlan, invocationOf } from './plan.js';
import { type Prepared, prepare } from './prepare.js';
import {
  answeringWith,
  type Chooser,
  type Denial,
  denialOf,
  isLeftOpen,
  loadPolicy,
  type Stage,
  unfitting,
} from './questions.js';

/** After a cancel: shows callbacks that are already on their way; with `--linger` at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** How the calls of a run ended. */
export interface Finish {
  /** Undefined unless there is exactly one call. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

/** A run of `invoke`: observed, interruptible, and with everything that it started stopped at the end. */
export abstract class InvokeRun {
  /** Warnings about the command itself, as far as they are known. */
  protected notes: readonly Warning[] = [];
  protected readonly interrupted = interruption();
  protected readonly onStop: OnStop = stop => void this.#stops.push(stop);
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(
    protected readonly plan: InvokePlan,
    protected readonly terminal: Terminal,
    protected readonly observation: Observation,
    protected readonly clock: Clock = systemClock,
  ) {}

  /** Makes the calls. */
  protected abstract perform(): Promise<Finish>;

  /** Warnings that only come up while the run goes on. */
  protected lateWarnings(): readonly Warning[] {
    return [];
  }

  protected async settle(): Promise<void> {}

  /** Performs the run, tells how it ended, and returns the exit status. */
  async finish(): Promise<ExitStatus> {
    const { reporter, history, finish: keepTranscript } = this.observation;
    const { exchange, trouble, status } = await this.perform()
      .catch((error: unknown): Finish => {
        const failure = asTrouble(error);
        return { exchange: undefined, trouble: failure, status: statusOfFailure(failure.code) };
      })
      .finally(() => this.#stop());
    const lost = await keepTranscript(trouble?.code ?? 'done').then(() => null, asTrouble);
    await reporter.end({
      history,
      exchange: exchange && history.exchanges.get(exchange.key), // with what came after its end
      notes: [
        ...this.ownWarnings(),
        ...this.lateWarnings(),
        ...(trouble && lost ? [{ message: lost.message }] : []),
      ],
      trouble: trouble ?? lost,
    });
    return this.interrupted.signalStatus() ?? (lost && !trouble ? statusOfFailure(lost.code) : status);
  }

  /** What the options themselves are worth a warning for (threats, row 5), and what was noted. */
  protected ownWarnings(): readonly Warning[] {
    const { host } = this.plan.listener;
    const open = `the callback listener is open to the network (--callback-host ${host})`;
    return [...(isWildcard(host) ? [{ message: open }] : []), ...this.notes];
  }

  /** How a person is asked: beside whatever else is on the terminal, until they want to stop. */
  protected stage(): Stage {
    const { terminal, interrupted, observation } = this;
    return {
      terminal,
      signal: interrupted.signal,
      aside: work => observation.reporter.aside?.(work) ?? work(),
    };
  }

  protected chooser(): Chooser {
    return { choose: this.plan.options.choose, pick: this.observation.reporter.choose, ...this.stage() };
  }

  /** Whether the policy or a person forbids the call. @throws ProtocolCliError `interrupted` */
  protected async denial(
    tool: Prepared['tool'],
    args: unknown,
    policy: Policy | null,
  ): Promise<Denial | null> {
    const { yes = false } = this.plan.options;
    const denial = await this.interrupted.race(denialOf(tool, args, { policy, yes }, this.stage()));
    if (this.interrupted.signal.aborted)
      throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    return denial;
  }

  /** Without a terminal, an explicit `--timeout` ends the wait for a consent too; otherwise that may come at any time. */
  protected waitsForPeople(): boolean {
    return isSomebodyThere(this.terminal) || this.plan.options.isTimeoutTold !== true;
  }

  /** Cancels a call when the run is interrupted. Returns how to stop that. */
  protected cancelWhenInterrupted(key: string): () => void {
    return this.interrupted.onSignal(() =>
      this.observation.log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
    );
  }

  protected async policy(): Promise<Policy | null> {
    const { policy: file } = this.plan.options;
    return file === undefined ? null : loadPolicy(file, this.terminal);
  }

  /** Reports a call that is over. */
  protected async tell(exchange: Exchange, trouble: Trouble | null): Promise<Finish> {
    const { history, reporter } = this.observation;
    await reporter.settled?.({ history, exchange, notes: this.ownWarnings(), trouble });
    return finishOf(exchange, trouble);
  }

  async #stop(): Promise<void> {
    const { signal } = this.interrupted;
    if (!signal.aborted) await this.settle();
    await Promise.allSettled(this.#stops.reverse().map(stop => stop()));
    this.interrupted.release();
    if (signal.aborted) this.terminal.stdin.destroy(); // arguments may still be awaited from there
    await this.observation.reporter.close?.();
  }
}

function finishOf(exchange: Exchange, trouble: Trouble | null): Finish {
  const outcome = outcomeOf(exchange)?.type ?? 'unknown';
  return { exchange, trouble, status: trouble ? statusOfFailure(trouble.code) : statusOfOutcome(outcome) };
}

function asTrouble(error: unknown): Trouble {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}

/** Calls a RAP tool: discovery, callbacks, notices. */
class RapRun extends InvokeRun {
  readonly #client: HttpClient;
  readonly #servers: StartedServers;

  constructor(plan: InvokePlan, terminal: Terminal, observation: Observation) {
    super(plan, terminal, observation);
    this.#client =
      plan.options.repeat === undefined
        ? createNodeClient() // loads fast: one call needs no throughput
        : lazyClient(async () => (await import('../../http/pooled-client.js')).createAgentClient());
    const { log, history, redactor, verbosely } = observation;
    const onStderr = verbosely && ((lines: string) => verbosely(redactor.text(lines)));
    this.#servers = new StartedServers(log, () => history.exchanges.values(), onStderr);
  }

  protected override lateWarnings(): readonly Warning[] {
    return this.#servers.warnings;
  }

  protected override settle(): Promise<void> {
    return this.#servers.settle();
  }

  protected override async perform(): Promise<Finish> {
    const { plan, observation, clock, onStop } = this;
    const { log, history, tellsBodies: keepBodies } = observation;
    const { repeat } = plan.options;
    onStop(() => this.#client.close());
    const policy = await this.policy();
    const reach = { log, client: this.#client, onStop, servers: this.#servers, ...this.stage() };
    const prepared = await this.interrupted.race(prepare(plan, reach));
    this.notes = prepared.notes;
    if (policy && prepared.base === null && asksForAnnotations(policy))
      throw usage(
        '--endpoint loads no toolset, but the policy uses annotations',
        'Give the base URL without --endpoint, or use names in the policy.',
      );
    const runtime = await Runtime.start({ log, history, clock, listener: { ...plan.listener, keepBodies } });
    onStop(() => runtime.close());
    const denial = await this.denial(prepared.tool, prepared.args, policy);
    const caller = { prepared, runtime, denial };
    return repeat === undefined ? this.#callOnce(caller) : this.#callRepeatedly(caller, repeat);
  }

  /** Calls, reports the result at once, stays as long as was asked for, and notifies the tool. */
  async #callOnce(caller: Caller): Promise<Finish> {
    const { linger = AFTER_CANCEL_MS.usual } = this.plan.options;
    const made = await this.#call(caller, this.plan.identity, this.chooser(), async exchange => {
      await this.tell(exchange, this.#troubleOf(exchange));
      if (!caller.denial) await this.#stay(exchange);
    });
    const exchange = this.#latest(made);
    await this.#leave(caller, exchange, this.plan.identity, () =>
      waiting(this.clock, Math.min(linger, AFTER_CANCEL_MS.most)),
    );
    return finishOf(exchange, this.#troubleOf(exchange)); // what came after the cancel changes nothing
  }

  /** `--repeat`: the same call many times, some in parallel, each reported as it ends. */
  async #callRepeatedly(caller: Caller, repeat: number): Promise<Finish> {
    const { concurrency = 1, choose = [] } = this.plan.options;
    const statuses = new Set<ExitStatus>();
    let begun = 0;
    const callNext = async () => {
      begun++;
      const identity = anotherIdentity(this.plan);
      const exchange = await this.#call(caller, identity, { ...this.chooser(), choose }, async each => {
        statuses.add((await this.tell(each, this.#troubleOf(each))).status);
      });
      await this.#leave(caller, exchange, identity);
    };
    const worker = async () => {
      while (begun < repeat && !this.interrupted.signal.aborted) await callNext();
    };
    if (caller.denial) await callNext();
    else {
      const ended = await Promise.allSettled(Array.from({ length: Math.min(concurrency, repeat) }, worker));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    }
    const missing = caller.denial ? 0 : repeat - begun;
    const message = `interrupted: ${missing} of ${repeat} ${missing === 1 ? 'call was' : 'calls were'} not made`;
    const trouble = missing === 0 ? null : ({ code: 'interrupted', message } as const);
    return { exchange: undefined, trouble, status: worstOf(statuses) };
  }

  /** Makes one call, or records that it is denied. @param told reports it, before its end is final */
  async #call(
    { prepared, runtime, denial }: Caller,
    identity: Identity,
    chooser: Chooser,
    told: (exchange: Exchange) => Promise<void>,
  ): Promise<Exchange> {
    const { timeout: timeoutMs, retries, lenientAck = false } = this.plan.options;
    const { wire, endpoint, tool, args } = prepared;
    const { invocation, token } = runtime.address(invocationOf(identity, tool.name, args));
    this.observation.redactor.add(token);
    if (denial) {
      const denied = runtime.deny(invocation, denial);
      await told(denied);
      return denied;
    }
    const stopCancelling = this.cancelWhenInterrupted(invocation.id);
    const exchange = await runtime.invoke(
      wire,
      {
        ...{ endpoint, invocation, retries, lenientAck, timeoutMs },
        waitsForPeople: this.waitsForPeople(),
        leave: pending => isLeftOpen(pending, chooser),
      },
      answeringWith(chooser),
    );
    await told(exchange);
    stopCancelling();
    return exchange;
  }

  /** `--follow` and `--linger`. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0 } = this.plan.options;
    const { log, history } = this.observation;
    const { signal } = this.interrupted;
    const readerGone = new Promise(resolve => this.terminal.stdout.once('error', resolve)); // as after `head -1`
    if (follow) await Promise.race([subscriptionEnd(log, history, key), readerGone]);
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await waiting(this.clock, linger, signal);
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  #leave(
    { prepared: { wire, base } }: Caller,
    exchange: Exchange,
    { isOurThread }: Identity,
    listenOn = async () => {},
  ): Promise<void> {
    const closes = this.plan.options.close !== false;
    return takeLeave(exchange, { wire, base, isOurThread, closes, listenOn });
  }

  #latest(exchange: Exchange): Exchange {
    return this.observation.history.exchanges.get(exchange.key) ?? exchange;
  }

  #troubleOf(exchange: Exchange): Trouble | null {
    const failure = this.#servers.explain(failureOf(exchange, this.observation.history.untracked));
    const { choose, repeat } = this.plan.options;
    if (failure?.code !== 'decision-needed') return failure;
    if (repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (choose === undefined) return failure;
    const message = `--choose ${unfitting(exchange, choose)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }
}

/** A tool that can be called. */
interface Caller {
  readonly prepared: Prepared;
  readonly runtime: Runtime;
  readonly denial: Denial | null;
}

/** Resolves after a time, or when a person wants to stop. */
function waiting(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal?.addEventListener('abort', end);
  });
}

/** Each of many calls has its own id, and its own thread unless one is given. */
function anotherIdentity({ identity }: InvokePlan): Identity {
  const { id, groupId } = freshIds();
  return { ...identity, id, ...(identity.isOurThread && { groupId }) };
}

/** From the status that says most about the tool to the one that says least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

function worstOf(statuses: ReadonlySet<ExitStatus>): ExitStatus {
  const other = [...statuses].find(status => !WORST_FIRST.includes(status));
  return WORST_FIRST.find(status => statuses.has(status)) ?? other ?? 0;
}

/** `invoke`, from the plan to the exit status. */
export async function runInvoke(plan: InvokePlan, terminal: Terminal): Promise<ExitStatus> {
  return new RapRun(plan, terminal, await observe(plan.options, terminal, systemClock)).finish();
}
