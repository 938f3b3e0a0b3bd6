import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import type { Warning } from '../../protocol/requirements.js';
import { failureOf } from '../../render/failure.js';
import { jsonReporter, Page, type Reporter } from '../../render/outputs/reporter.js';
import { textReporter } from '../../render/outputs/text.js';
import { type Trouble, warningText } from '../../render/outputs/trouble.js';
import { type Sink, writeOut } from '../../system/streams.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { safeJson } from '../../util/redact.js';
import { Consent, type Denial, type ToolInfo } from '../consent.js';
import { readHeaders } from '../headers.js';
import { requireScreen, usageError } from '../options.js';
import { asTrouble, type Run, withRun } from '../run.js';
import { listenerWarnings } from '../target.js';
import {
  canDraw,
  colourOf,
  type ExitStatus,
  type Output,
  Prompts,
  statusOfFailure,
  type Terminal,
} from '../terminal.js';
import type { InvokeOptions, InvokePlan } from './plan.js';
import { Chooser } from './questions.js';

/** Ms before the program prints what it is waiting for. */
export const NOTICE_AFTER_MS = 3_000;

/** Makes the calls of a plan, or shows the request of a dry run. */
export function runCall(
  plan: InvokePlan,
  terminal: Terminal,
  create: (...args: ConstructorParameters<typeof CallRun>) => Pick<CallRun, 'preview' | 'finish'>,
): Promise<ExitStatus> {
  const { options } = plan;
  const secrets = secretsOf(readHeaders(options, terminal.env));
  return withRun({ terminal, secrets }, async run =>
    options.dryRun
      ? create(plan, run, null).preview()
      : create(plan, run, await openOutput(options, run)).finish(),
  );
}

/** How the calls of a run ended. */
export interface Finish {
  /** Undefined unless there is exactly one call. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

/** A run of `invoke`: what RAP calls and MCP calls share. `Found` is the tool with its arguments. */
export abstract class CallRun<Found extends { readonly tool: ToolInfo; readonly args: unknown } = never> {
  readonly history: History;
  readonly chooser: Chooser;
  protected readonly notes: Warning[] = [];
  protected readonly options: InvokeOptions;
  protected readonly isDrawn: boolean;
  protected readonly keepsBodies: boolean;
  /** The output of `-v`. */
  protected readonly verbosely: Sink | null;
  readonly #reporter: Reporter | undefined;

  /** @param output null for a dry run */
  constructor(
    readonly plan: InvokePlan,
    readonly run: Run,
    output: CallOutput | null,
  ) {
    this.options = plan.options;
    this.history = output?.history ?? new History();
    this.isDrawn = output?.isDrawn ?? false;
    this.keepsBodies = output?.keepsBodies ?? false;
    this.verbosely = output?.verbosely ?? null;
    this.#reporter = output?.reporter;
    const prompts = new Prompts(run, this.#reporter);
    this.chooser = new Chooser(prompts, plan.options.choose, this.#reporter?.choose);
  }

  /** Finds the tool, and reads its arguments. @throws ProtocolCliError with the cause. */
  protected abstract find(): Promise<Found>;

  /** What `--dry-run` shows: the request as text and as data, and advice for people. */
  protected abstract previewOf(found: Found): {
    readonly text: string;
    readonly report: object;
    readonly advice?: string;
  };

  /** Makes the calls, or records that they are denied. */
  protected abstract call(found: Found, denial: Denial | null): Promise<Finish>;

  /** Returns the warnings about the command itself that are known so far. */
  protected collected(): readonly Warning[] {
    return this.notes;
  }

  /** Returns why a call failed. */
  protected explain(exchange: Exchange): Trouble | null {
    return failureOf(exchange);
  }

  /** Makes the calls, stops everything, and reports how they ended. */
  async finish(): Promise<ExitStatus> {
    const { run, history } = this;
    const { exchange, trouble, status } = await this.#call()
      .catch((error: unknown): Finish => {
        const trouble = asTrouble(error);
        return { exchange: undefined, trouble, status: statusOfFailure(trouble.code) };
      })
      .finally(async () => {
        await run.stop();
        await this.#reporter?.close?.();
      });
    const last = exchange && history.exchanges.get(exchange.key); // includes what arrived after the call ended
    const isLate = trouble?.code === 'timeout' && exchange && last;
    const ended = await run.end(isLate ? this.explain({ ...exchange, arrivals: last.arrivals }) : trouble);
    await this.#reporter?.end({
      history,
      exchange: last,
      notes: [...this.#warnings(), ...ended.warnings],
      trouble: ended.trouble,
    });
    return ended.trouble && !trouble ? statusOfFailure(ended.trouble.code) : status;
  }

  /** Prints the request, and whether the policy would deny it. */
  async preview(): Promise<ExitStatus> {
    const { terminal, stderr } = this.run;
    const { output, quiet = false } = this.options;
    const { consent, found } = await this.#find();
    const verdict = consent.judge(found.tool);
    const refused =
      typeof verdict === 'object' ? [{ message: `it would not be sent: ${verdict.reason}` }] : [];
    const warnings = [...this.collected(), ...refused];
    const { text, report, advice } = this.previewOf(found);
    const isJson = output === 'json';
    await writeOut(terminal.stdout, isJson ? `${safeJson({ ...report, warnings }, 2)}\n` : text);
    for (const warning of quiet ? refused : warnings) stderr.write(warningText(warning));
    if (advice && !isJson && !quiet && refused.length === 0) stderr.write(advice);
    return refused.length === 0 ? 0 : statusOfFailure('denied');
  }

  /** Reports a finished call. */
  protected async report(exchange: Exchange, trouble = this.explain(exchange)): Promise<Finish> {
    const notes = this.#warnings();
    await this.#reporter?.settled?.({ history: this.history, exchange, notes, trouble });
    return this.finished(exchange, trouble);
  }

  protected finished(exchange: Exchange, trouble = this.explain(exchange)): Finish {
    const status = outcomeOf(exchange)?.type === 'success' ? 0 : 5;
    return { exchange, trouble, status: trouble ? statusOfFailure(trouble.code) : status };
  }

  /** Without a terminal, an explicit `--timeout` also limits the wait for a consent, which otherwise has no limit. */
  protected get pausesForUser(): boolean {
    return this.chooser.prompts.canAsk || !this.options.given.includes('--timeout');
  }

  /** Cancels a call when the run is interrupted. Returns a function that stops listening. */
  protected cancelWhenInterrupted(key: string): () => void {
    const { interrupted, log } = this.run;
    return interrupted.onSignal(() =>
      log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
    );
  }

  async #find() {
    const { plan, run, options } = this;
    const consent = await Consent.read(options, run.terminal);
    if (plan.target?.kind === 'endpoint' && consent.usesAnnotations)
      throw usageError(
        '--endpoint loads no toolset, but the policy uses annotations',
        'Give the base URL without --endpoint, or use names in the policy.',
      );
    return { consent, found: await run.interrupted.race(this.find()) };
  }

  async #call(): Promise<Finish> {
    const { interrupted, signal } = this.run;
    const { consent, found } = await this.#find();
    const denial = await interrupted.race(consent.denialOf(found.tool, found.args, this.chooser.prompts));
    if (signal.aborted) throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    return this.call(found, denial);
  }

  /** Returns warnings about the options (threats, row 5), and those collected during the run. */
  #warnings(): readonly Warning[] {
    return [...listenerWarnings(this.plan.listener), ...this.collected()];
  }
}

/**
 * Returns the output of `-o`. Default: the live view if a screen can be drawn, plain lines on any other terminal, and in a pipe what
 * the LLM gets.
 * @throws ProtocolCliError `usage` if it is not possible here.
 */
function outputFor({ output, repeat, dialect }: InvokeOptions, terminal: Terminal): Output {
  if (dialect !== undefined) return 'json';
  if (repeat !== undefined && (output === 'text' || output === 'ui'))
    throw usageError(
      `-o ${output} shows one call, but --repeat makes many`,
      'Use -o plain (a line for each call) or -o json (one object).',
    );
  requireScreen(output, terminal);
  if (output !== undefined || repeat !== undefined) return output ?? 'plain';
  if (canDraw(terminal)) return 'ui';
  return terminal.stdout.isTTY === true ? 'plain' : 'text';
}

/** Where a call is shown. */
interface CallOutput {
  readonly history: History;
  readonly reporter: Reporter;
  /** Whether it is a live view. */
  readonly isDrawn: boolean;
  readonly keepsBodies: boolean;
  /** The output of `-v`. */
  readonly verbosely: Sink | null;
}

/** Opens the reporters and the transcript. @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file`. */
async function openOutput(options: InvokeOptions, run: Run): Promise<CallOutput> {
  const { terminal, log, redactor, stderr } = run;
  const { save, verbose = false, quiet = false } = options;
  const output = outputFor(options, terminal);
  const history = new History(true, redactor.text);
  log.subscribe(event => history.apply(event));
  await run.save(save);
  const { stdout } = terminal;
  const level = colourOf(stdout, options, terminal);
  const page = new Page(history, { stdout, stderr, quiet, redactor, level });
  const ofMany = output === 'json' ? jsonOfMany : linesOfMany;
  const make = options.repeat === undefined || output === 'ndjson' ? MAKERS[output] : ofMany;
  const reporter = await make(page, options, run);
  if (reporter.event) log.subscribe(reporter.event);
  const isDrawn = output === 'ui';
  const verbosely = verbose ? run.verboseWriter(isDrawn) : null; // the output of -v
  // For MCP, -v prints the JSON-RPC messages.
  if (verbosely && options.mcp === undefined)
    log.subscribe((await import('../../render/wire.js')).verbosePrinter(redactor, verbosely));
  const keepsBodies = verbose || save !== undefined || output === 'ndjson';
  return { history, reporter, isDrawn, keepsBodies, verbosely };
}

/** Creates a reporter. Each is loaded on demand: a pipe must not wait for the libraries of the live view. */
type Maker = (page: Page, options: InvokeOptions, run: Run) => Reporter | Promise<Reporter>;

const MAKERS = {
  ndjson: async (page, _, { about }) => {
    const { ndjsonReporter } = await import('../../render/outputs/text.js');
    return ndjsonReporter(page, about);
  },
  text: (page, { follow }) => textReporter(page, follow),
  json: async (page, { dialect, supports }) => {
    const { dialectReporter, invokeReport } = await import('../../render/outputs/call-report.js');
    if (dialect !== undefined) return dialectReporter(page, dialect);
    return jsonReporter(page, ending => invokeReport(ending, supports));
  },
  plain: async (page, { supports }) => {
    const { plainReporter } = await import('../../render/outputs/plain.js');
    return plainReporter(page, supports);
  },
  ui: async (page, { supports, timeout: timeoutMs }, { terminal, clock, credentials }) => {
    const { liveReporter } = await import('../../tui/live/reporter.js');
    const { stdin, stdout, interrupt } = terminal;
    const redact = credentials.text; // a URL that the user has to visit is not redacted
    return liveReporter({ page, stdin, stdout, redact, clock, timeoutMs, supports, interrupt });
  },
} as const satisfies Record<Output, Maker>;

const linesOfMany: Maker = async page => (await import('../../render/outputs/repeats.js')).plainRepeats(page);

const jsonOfMany: Maker = async (page, { supports }) => {
  const { jsonRepeats } = await import('../../render/outputs/repeats.js');
  return jsonRepeats(page, supports);
};
