import { setTimeout as delay } from 'node:timers/promises';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { isWildcard } from '../../http/server.js';
import type { Warning } from '../../protocol/requirements.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { takeLeave } from '../../runtime/notices.js';
import { asksForAnnotations, type Governed, type Policy } from '../../runtime/policy.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { usage } from '../options.js';
import { asTrouble, type Run, withErrorReport, withRun } from '../run.js';
import { StartedServers } from '../started-server.js';
import { readHeaders } from '../target.js';
import {
  type ExitStatus,
  isSomebodyThere,
  statusOfFailure,
  statusOfOutcome,
  type Terminal,
} from '../terminal.js';
import { dryRun } from './dry-run.js';
import { type CallOutput, openOutput } from './output.js';
import {
  freshIds,
  type Identity,
  type InvokeOptions,
  type InvokePlan,
  invocationOf,
  planInvoke,
} from './plan.js';
import { type Prepared, prepare } from './prepare.js';
import {
  answeringWith,
  type Chooser,
  type Denial,
  denialOf,
  isLeftOpen,
  loadPolicy,
  type Stage,
  stageOf,
  unfitting,
} from './questions.js';

/** Runs `invoke`. With `-o json` an object is printed even if the command fails early. */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { interactive, mcp, watch, output, dialect, command } = options;
  if (interactive) return (await import('../workbench/start.js')).startWorkbench(words, options, terminal);
  return withErrorReport(output === 'json' && dialect === undefined, terminal, async () => {
    if (mcp !== undefined) return (await import('./mcp.js')).invokeMcp(words, options, terminal);
    const once = () => {
      const plan = planInvoke(words, options);
      return options.dryRun ? dryRun(plan, terminal) : runCall(plan, terminal, callRap);
    };
    if (!watch || options.dryRun) return once();
    return (await import('../watch-command.js')).runOnEachChange(command, terminal, once);
  });
}

/** How the calls of a run ended. */
export interface Finish {
  /** Undefined unless there is exactly one call. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

/** Makes calls and shows them. @param perform makes them */
export function runCall(
  plan: InvokePlan,
  terminal: Terminal,
  perform: (call: CallRun) => Promise<Finish>,
): Promise<ExitStatus> {
  const secrets = secretsOf(readHeaders(plan.options, terminal.env));
  return withRun({ terminal, secrets }, async run =>
    new CallRun(plan, run, await openOutput(plan.options, run)).finish(perform),
  );
}

/** A run of `invoke`: what calls over RAP and over MCP share. */
export class CallRun {
  /** Warnings about the command itself, as far as they are known. */
  notes: () => readonly Warning[] = () => [];
  readonly stage: Stage;
  readonly chooser: Chooser;

  constructor(
    readonly plan: InvokePlan,
    readonly run: Run,
    readonly output: CallOutput,
  ) {
    const { reporter } = output;
    this.stage = stageOf(run, reporter);
    this.chooser = { choose: plan.options.choose, pick: reporter.choose, ...this.stage };
  }

  /** Makes the calls, stops everything, and reports how they ended. */
  async finish(perform: (call: CallRun) => Promise<Finish>): Promise<ExitStatus> {
    const { run, output } = this;
    const { reporter, history } = output;
    const { exchange, trouble, status } = await perform(this)
      .catch((error: unknown): Finish => finishOf(undefined, asTrouble(error)))
      .finally(async () => {
        await run.stop();
        await reporter.close?.();
      });
    const ended = await run.end(trouble);
    await reporter.end({
      history,
      exchange: exchange && history.exchanges.get(exchange.key), // with what came after its end
      notes: [...this.#warnings(), ...ended.warnings],
      trouble: ended.trouble,
    });
    return ended.trouble && !trouble ? statusOfFailure(ended.trouble.code) : status;
  }

  /** Reports a call that is over. */
  async report(exchange: Exchange, trouble: Trouble | null): Promise<Finish> {
    const { history, reporter } = this.output;
    await reporter.settled?.({ history, exchange, notes: this.#warnings(), trouble });
    return finishOf(exchange, trouble);
  }

  async policy(): Promise<Policy | null> {
    const { policy: file } = this.plan.options;
    return file === undefined ? null : loadPolicy(file, this.run.terminal);
  }

  /** Why the policy or a person forbids the call. @throws ProtocolCliError `interrupted` */
  async denial(tool: Governed, args: unknown, policy: Policy | null): Promise<Denial | null> {
    const { yes = false } = this.plan.options;
    const { interrupted, signal } = this.run;
    const denial = await interrupted.race(denialOf(tool, args, { policy, yes }, this.stage));
    if (signal.aborted) throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    return denial;
  }

  /** Without a terminal, an explicit `--timeout` ends the wait for a consent too; otherwise that may come at any time. */
  get waitsForPeople(): boolean {
    return isSomebodyThere(this.run.terminal) || !this.plan.options.given.includes('--timeout');
  }

  /** Cancels a call when the run is interrupted. Returns how to stop that. */
  cancelWhenInterrupted(key: string): () => void {
    const { interrupted, log } = this.run;
    return interrupted.onSignal(() =>
      log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
    );
  }

  /** What the options themselves are worth a warning for (threats, row 5), and what was noted. */
  #warnings(): readonly Warning[] {
    const { host } = this.plan.listener;
    const open = `the callback listener is open to the network (--callback-host ${host})`;
    return [...(isWildcard(host) ? [{ message: open }] : []), ...this.notes()];
  }
}

function finishOf(exchange: Exchange | undefined, trouble: Trouble | null): Finish {
  const outcome = (exchange && outcomeOf(exchange)?.type) ?? 'unknown';
  return { exchange, trouble, status: trouble ? statusOfFailure(trouble.code) : statusOfOutcome(outcome) };
}

/** Calls a RAP tool: discovery, callbacks, notices. */
async function callRap(call: CallRun): Promise<Finish> {
  const { plan, run, output } = call;
  const { log, onStop, clock, signal, redactor } = run;
  const { history, keepsBodies: keepBodies, verbosely } = output;
  const policy = await call.policy();
  const client = run.openClient(plan.options.repeat !== undefined);
  const onStderr = verbosely && ((lines: string) => verbosely(redactor.text(lines)));
  const servers = new StartedServers(log, () => history.exchanges.values(), onStderr);
  call.notes = () => servers.warnings;
  const starting = { onStop, signal, ...servers.options };
  const prepared = await run.interrupted.race(prepare(plan, { log, client, stage: call.stage, starting }));
  call.notes = () => [...prepared.notes, ...servers.warnings];
  if (policy && prepared.base === null && asksForAnnotations(policy))
    throw usage(
      '--endpoint loads no toolset, but the policy uses annotations',
      'Give the base URL without --endpoint, or use names in the policy.',
    );
  const runtime = await Runtime.start({ log, history, clock, listener: { ...plan.listener, keepBodies } });
  onStop(() => runtime.close());
  onStop(async () => (signal.aborted ? undefined : servers.settle()));
  const denial = await call.denial(prepared.tool, prepared.args, policy);
  const calls = new RapCalls(call, prepared, runtime, servers, denial);
  return plan.options.repeat === undefined ? calls.once() : calls.repeatedly(plan.options.repeat);
}

/** After a cancel: shows callbacks that are already on their way; with `--linger` at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** From the status that says most about the tool to the one that says least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** Calls a tool that was prepared, or records that the call is denied. */
class RapCalls {
  readonly #options: InvokeOptions;

  constructor(
    private readonly call: CallRun,
    private readonly prepared: Prepared,
    private readonly runtime: Runtime,
    private readonly servers: StartedServers,
    private readonly denial: Denial | null,
  ) {
    this.#options = call.plan.options;
  }

  /** Calls, reports the result at once, stays as long as was asked for, and notifies the tool. */
  async once(): Promise<Finish> {
    const { call, denial } = this;
    const { linger = AFTER_CANCEL_MS.usual } = this.#options;
    const made = await this.#make(call.plan.identity, call.chooser, async exchange => {
      await call.report(exchange, this.#troubleOf(exchange));
      if (!denial) await this.#stay(exchange);
    });
    const exchange = call.output.history.exchanges.get(made.key) ?? made;
    await this.#leave(exchange, call.plan.identity, () => delay(Math.min(linger, AFTER_CANCEL_MS.most)));
    return finishOf(exchange, this.#troubleOf(exchange)); // what came after the cancel changes nothing
  }

  /** `--repeat`: the same call many times, some in parallel, each reported as it ends. */
  async repeatedly(repeat: number): Promise<Finish> {
    const { call, denial } = this;
    const { concurrency = 1, choose = [] } = this.#options;
    const { identity } = call.plan;
    const statuses: ExitStatus[] = [];
    let begun = 0;
    const callNext = async () => {
      begun++;
      const { id, groupId } = freshIds();
      const own = { ...identity, id, ...(identity.isOurThread && { groupId }) };
      const exchange = await this.#make(own, { ...call.chooser, choose }, async each => {
        statuses.push((await call.report(each, this.#troubleOf(each))).status);
      });
      await this.#leave(exchange, own);
    };
    const worker = async () => {
      while (begun < repeat && !call.run.signal.aborted) await callNext();
    };
    if (denial) await callNext();
    else {
      const ended = await Promise.allSettled(Array.from({ length: Math.min(concurrency, repeat) }, worker));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    }
    const missing = denial ? 0 : repeat - begun;
    const message = `interrupted: ${missing} of ${repeat} ${missing === 1 ? 'call was' : 'calls were'} not made`;
    const trouble = missing === 0 ? null : ({ code: 'interrupted', message } as const);
    const status = WORST_FIRST.find(each => statuses.includes(each)) ?? statuses[0] ?? 0;
    return { exchange: undefined, trouble, status };
  }

  /** Makes one call. @param report reports it, before its end is final */
  async #make(
    identity: Identity,
    chooser: Chooser,
    report: (exchange: Exchange) => Promise<void>,
  ): Promise<Exchange> {
    const { call, runtime, denial } = this;
    const { timeout: timeoutMs, retries, lenientAck = false } = this.#options;
    const { wire, endpoint, tool, args } = this.prepared;
    const { invocation, token } = runtime.address(invocationOf(identity, tool.name, args));
    call.run.redactor.add(token);
    if (denial) {
      const denied = runtime.deny(invocation, denial);
      await report(denied);
      return denied;
    }
    const stopCancelling = call.cancelWhenInterrupted(invocation.id);
    const exchange = await runtime.invoke(
      wire,
      {
        ...{ endpoint, invocation, retries, lenientAck, timeoutMs },
        waitsForPeople: call.waitsForPeople,
        leave: pending => isLeftOpen(pending, chooser),
      },
      answeringWith(chooser),
    );
    await report(exchange);
    stopCancelling();
    return exchange;
  }

  /** `--follow` and `--linger`. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0 } = this.#options;
    const { run, output } = this.call;
    const { log, signal, terminal } = run;
    const readerGone = new Promise(resolve => terminal.stdout.once('error', resolve)); // as after `head -1`
    if (follow) await Promise.race([subscriptionEnd(log, output.history, key), readerGone]);
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  #leave(exchange: Exchange, { isOurThread }: Identity, listenOn = async () => {}): Promise<void> {
    const { wire, base } = this.prepared;
    const closes = this.#options.close !== false;
    return takeLeave(exchange, { wire, base, isOurThread, closes, listenOn });
  }

  #troubleOf(exchange: Exchange): Trouble | null {
    const failure = this.servers.explain(failureOf(exchange, this.call.output.history.untracked));
    const { choose, repeat } = this.#options;
    if (failure?.code !== 'decision-needed') return failure;
    if (repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (choose === undefined) return failure;
    const message = `--choose ${unfitting(exchange, choose)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }
}
