import { History } from '../../events/history.js';
import { jsonReporter, Page, type Reporter } from '../../render/outputs/reporter.js';
import { textReporter } from '../../render/outputs/text.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { isSameFile, type Sink } from '../../system/streams.js';
import { requireScreen, usageError } from '../options.js';
import type { Run } from '../run.js';
import { canDraw, colourOf, type Output, type Terminal } from '../terminal.js';
import type { InvokeOptions } from './plan.js';

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

/** Where calls are shown. */
export interface CallOutput {
  readonly history: History;
  readonly reporter: Reporter;
  /** Whether it is a live view. */
  readonly isDrawn: boolean;
  readonly keepsBodies: boolean;
  /** The output of `-v`. */
  readonly verbosely: Sink | null;
}

/** The output of a dry run, which makes no call. */
export function silentOutput(): CallOutput {
  const reporter = { end: async () => {} };
  return { history: new History(), reporter, isDrawn: false, keepsBodies: false, verbosely: null };
}

/** Opens the reporters and the transcript. @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file`. */
export async function openOutput(options: InvokeOptions, run: Run): Promise<CallOutput> {
  const { terminal, log, redactor, stderr } = run;
  const { save, verbose = false, quiet = false } = options;
  const output = outputFor(options, terminal);
  const history = new History(true, redactor.text);
  log.subscribe(event => history.apply(event));
  await run.save(save);
  const { stdout } = terminal;
  const level = colourOf(stdout, options, terminal);
  const background = backgroundOf(terminal.env);
  const isShared = isSameFile(stdout, terminal.stderr);
  const page = new Page(history, { stdout, stderr, isShared, quiet, redactor, level, background });
  const ofMany = output === 'json' ? jsonOfMany : linesOfMany;
  const make = options.repeat === undefined || output === 'ndjson' ? MAKERS[output] : ofMany;
  const reporter = await make(page, options, run);
  if (reporter.event) log.subscribe(reporter.event);
  const { onProgress } = terminal;
  if (onProgress)
    log.subscribe((await import('./progress.js')).progressTeller(history, redactor, onProgress));
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
