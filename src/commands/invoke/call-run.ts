import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { isWildcard } from '../../http/guard.js';
import type { Warning } from '../../protocol/requirements.js';
import { failureOf } from '../../render/failure.js';
import type { Paper, Reporter } from '../../render/outputs/reporter.js';
import { textReporter } from '../../render/outputs/text.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { verboseTeller } from '../../render/wire.js';
import type { Policy, ToolInfo } from '../../runtime/policy.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { requireScreen, usage } from '../options.js';
import { asTrouble, type Run, withRun } from '../run.js';
import { readHeaders } from '../target.js';
import {
  canAskUser,
  colourOf,
  defaultOutput,
  type ExitStatus,
  type Output,
  statusOfFailure,
  statusOfOutcome,
  type Terminal,
} from '../terminal.js';
import type { InvokeOptions, InvokePlan } from './plan.js';
import { type Chooser, type Denial, denialOf, loadPolicy, type Prompts, promptsOf } from './questions.js';

/** How the calls of a run ended. */
export interface Finish {
  /** Undefined unless there is exactly one call. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

/** @param perform makes the calls */
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

/** A run of `invoke`: the code that RAP calls and MCP calls share. */
export class CallRun {
  /** Returns the warnings about the command itself that are known so far. */
  notes: () => readonly Warning[] = () => [];
  /** Returns why a call failed. */
  explain: (exchange: Exchange) => Trouble | null = failureOf;
  readonly prompts: Prompts;
  readonly chooser: Chooser;

  constructor(
    readonly plan: InvokePlan,
    readonly run: Run,
    readonly output: CallOutput,
  ) {
    const { reporter } = output;
    this.prompts = promptsOf(run, reporter);
    this.chooser = { choose: plan.options.choose, pick: reporter.choose, ...this.prompts };
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
    const last = exchange && history.exchanges.get(exchange.key); // includes what arrived after the call ended
    const isLate = trouble?.code === 'timeout' && exchange && last;
    const ended = await run.end(isLate ? this.explain({ ...exchange, arrivals: last.arrivals }) : trouble);
    await reporter.end({
      history,
      exchange: last,
      notes: [...this.#warnings(), ...ended.warnings],
      trouble: ended.trouble,
    });
    return ended.trouble && !trouble ? statusOfFailure(ended.trouble.code) : status;
  }

  /** Reports a finished call. */
  async report(exchange: Exchange, trouble: Trouble | null): Promise<Finish> {
    const { history, reporter } = this.output;
    await reporter.settled?.({ history, exchange, notes: this.#warnings(), trouble });
    return finishOf(exchange, trouble);
  }

  async policy(): Promise<Policy | null> {
    const { policy: file } = this.plan.options;
    return file === undefined ? null : loadPolicy(file, this.run.terminal);
  }

  /** Returns why the policy or the user denies the call; null if it is allowed. @throws ProtocolCliError `interrupted` */
  async denial(tool: ToolInfo, args: unknown, policy: Policy | null): Promise<Denial | null> {
    const { yes = false } = this.plan.options;
    const { interrupted, signal } = this.run;
    const denial = await interrupted.race(denialOf(tool, args, { policy, yes }, this.prompts));
    if (signal.aborted) throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    return denial;
  }

  /** Without a terminal, an explicit `--timeout` also limits the wait for a consent, which otherwise has no limit. */
  get pausesForUser(): boolean {
    return canAskUser(this.run.terminal) || !this.plan.options.given.includes('--timeout');
  }

  /** Cancels a call when the run is interrupted. Returns a function that stops listening. */
  cancelWhenInterrupted(key: string): () => void {
    const { interrupted, log } = this.run;
    return interrupted.onSignal(() =>
      log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
    );
  }

  /** Returns warnings about the options (threats, row 5), and those collected during the run. */
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

/**
 * Returns the output of `-o`, or the default for the terminal.
 * @throws ProtocolCliError `usage` if it is not possible here.
 */
function outputFor({ output, repeat, dialect }: InvokeOptions, terminal: Terminal): Output {
  if (dialect !== undefined) return 'json';
  if (repeat !== undefined && (output === 'text' || output === 'ui'))
    throw usage(
      `-o ${output} shows one call, but --repeat makes many`,
      'Use -o plain (a line for each call) or -o json (one object).',
    );
  requireScreen(output, terminal);
  return output ?? (repeat === undefined ? defaultOutput(terminal) : 'plain');
}

type CallOutput = Awaited<ReturnType<typeof openOutput>>;

/** Opens the reporters and the transcript. @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file`. */
async function openOutput(options: InvokeOptions, run: Run) {
  const { terminal, log, redactor, stderr } = run;
  const { save, verbose = false, quiet = false } = options;
  const output = outputFor(options, terminal);
  const history = new History(true, redactor.text);
  log.subscribe(event => history.apply(event));
  await run.save(save);
  const paper = { stdout: terminal.stdout, stderr, quiet };
  const ofMany = output === 'json' ? jsonOfMany : linesOfMany;
  const make = options.repeat === undefined || output === 'ndjson' ? MAKERS[output] : ofMany;
  const reporter = await make(history, paper, options, run);
  if (reporter.event) log.subscribe(reporter.event);
  const isDrawn = output === 'ui';
  const verbosely = verbose ? run.verboseWriter(isDrawn) : null; // the output of -v
  // For MCP, -v prints the JSON-RPC messages.
  if (verbosely && options.mcp === undefined) log.subscribe(verboseTeller(redactor, verbosely));
  const keepsBodies = verbose || save !== undefined || output === 'ndjson';
  return { history, reporter, isDrawn, keepsBodies, verbosely };
}

/** Creates a reporter. Each is loaded on demand: a pipe must not wait for the libraries of the live view. */
type Maker = (
  history: History,
  paper: Paper,
  options: InvokeOptions,
  run: Run,
) => Reporter | Promise<Reporter>;

const MAKERS = {
  ndjson: async (history, paper, _, { redactor, about }) => {
    const { ndjsonReporter } = await import('../../render/outputs/text.js');
    return ndjsonReporter(history, paper, redactor, about);
  },
  text: (history, paper, { follow = false }, { terminal }) =>
    textReporter(history, paper, { isTTY: terminal.stdout.isTTY === true, follows: follow }),
  json: async (history, paper, { dialect, supports }, { redactor }) => {
    if (dialect !== undefined) {
      const { dialectReporter } = await import('../../render/outputs/call-report.js');
      return dialectReporter(history, paper, redactor, dialect);
    }
    const { jsonReporter } = await import('../../render/outputs/call-report.js');
    return jsonReporter(history, paper, redactor, supports);
  },
  plain: async (history, paper, options, { terminal, redactor }) => {
    const { plainReporter } = await import('../../render/outputs/plain.js');
    const isTTY = terminal.stdout.isTTY === true;
    const level = colourOf(terminal.stdout, options, terminal);
    return plainReporter(history, paper, options.supports, { level, isTTY, redactor });
  },
  ui: async (history, paper, options, { terminal, clock, credentials }) => {
    const { liveReporter } = await import('../../tui/live/reporter.js');
    const { stdin, stdout, interrupt } = terminal;
    const { supports, timeout: timeoutMs } = options;
    const level = colourOf(stdout, options, terminal);
    const redact = credentials.text; // a URL that the user has to visit is not redacted
    const screen = { paper, stdin, stdout, level, redact };
    return liveReporter({ ...screen, history, clock, timeoutMs, supports, interrupt });
  },
} as const satisfies Record<Output, Maker>;

const linesOfMany: Maker = async (history, paper, options, { redactor, terminal }) => {
  const { plainRepeats } = await import('../../render/outputs/repeats.js');
  return plainRepeats(history, paper, { level: colourOf(terminal.stdout, options, terminal), redactor });
};

const jsonOfMany: Maker = async (history, paper, { supports }, { redactor }) => {
  const { jsonRepeats } = await import('../../render/outputs/repeats.js');
  return jsonRepeats(history, paper, redactor, supports);
};
