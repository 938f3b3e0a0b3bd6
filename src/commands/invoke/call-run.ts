import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { isWildcard } from '../../http/server.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import type { Governed, Policy } from '../../runtime/policy.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { asTrouble, type Run, withRun } from '../run.js';
import { readHeaders } from '../target.js';
import {
  type ExitStatus,
  isSomebodyThere,
  statusOfFailure,
  statusOfOutcome,
  type Terminal,
} from '../terminal.js';
import { type CallOutput, openOutput } from './output.js';
import type { InvokePlan } from './plan.js';
import { type Chooser, type Denial, denialOf, loadPolicy, type Stage, stageOf } from './questions.js';

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

export function finishOf(exchange: Exchange | undefined, trouble: Trouble | null): Finish {
  const outcome = (exchange && outcomeOf(exchange)?.type) ?? 'unknown';
  return { exchange, trouble, status: trouble ? statusOfFailure(trouble.code) : statusOfOutcome(outcome) };
}
