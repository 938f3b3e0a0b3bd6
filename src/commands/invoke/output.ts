import { History } from '../../events/history.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import type { Paper, Reporter } from '../../render/outputs/reporter.js';
import { textReporter } from '../../render/outputs/text.js';
import { verboseTeller } from '../../render/wire.js';
import { requireScreen, usage } from '../options.js';
import { colourOf } from '../output.js';
import type { Run } from '../run.js';
import { defaultOutput, type Output, type Terminal } from '../terminal.js';
import type { InvokeOptions } from './plan.js';

/**
 * The output of `-o`, or the default for the terminal.
 * @throws ProtocolCliError `usage` for one that is not possible here.
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

/** What reads the log of a run. */
export interface CallOutput {
  readonly history: History;
  readonly reporter: Reporter;
  /** Whether it is drawn on the terminal. */
  readonly isDrawn: boolean;
  /** Whether an output prints the bytes of messages. */
  readonly keepsBodies: boolean;
  /** Where `-v` prints; null without it. */
  readonly verbosely: ((text: string) => void) | null;
}

/** @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file` for the transcript. */
export async function openOutput(options: InvokeOptions, run: Run): Promise<CallOutput> {
  const { terminal, log, redactor, stderr } = run;
  const { save, verbose = false, quiet = false } = options;
  const output = outputFor(options, terminal);
  const history = new History(true, redactor.text);
  log.subscribe(event => history.apply(event));
  await run.save(save);
  const paper = { stdout: terminal.stdout, stderr, quiet };
  const make = options.repeat === undefined ? FOR_ONE[output] : FOR_MANY[output];
  const reporter = await make(history, paper, options, run);
  if (reporter.event) log.subscribe(reporter.event);
  const isDrawn = output === 'ui';
  const verbosely = verbose ? run.verboseWriter(isDrawn) : null;
  // For MCP, -v prints the messages themselves.
  if (verbosely && options.mcp === undefined) log.subscribe(verboseTeller(redactor, verbosely));
  const keepsBodies = verbose || save !== undefined || output === 'ndjson';
  return { history, reporter, isDrawn, keepsBodies, verbosely };
}

/** Makes a reporter. Each is loaded only when it is asked for: a pipe must not wait for the libraries of the live view. */
type Maker = (
  history: History,
  paper: Paper,
  options: InvokeOptions,
  run: Run,
) => Reporter | Promise<Reporter>;

const ndjson: Maker = async (history, paper, _, { redactor, about }) => {
  const { ndjsonReporter } = await import('../../render/outputs/text.js');
  return ndjsonReporter(history, paper, transcriptWriter(redactor), about);
};

const FOR_ONE = {
  ndjson,
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
    const redact = credentials.text; // a URL that a person has to visit stays whole
    const screen = { paper, stdin, stdout, level, redact };
    return liveReporter({ ...screen, history, clock, timeoutMs, supports, interrupt });
  },
} as const satisfies Record<Output, Maker>;

const linesOfMany: Maker = async (history, paper, options, { redactor, terminal }) => {
  const { plainRepeats } = await import('../../render/outputs/repeats.js');
  return plainRepeats(history, paper, { level: colourOf(terminal.stdout, options, terminal), redactor });
};

const FOR_MANY = {
  ndjson,
  text: linesOfMany,
  plain: linesOfMany,
  ui: linesOfMany,
  json: async (history, paper, { supports }, { redactor }) => {
    const { jsonRepeats } = await import('../../render/outputs/repeats.js');
    return jsonRepeats(history, paper, redactor, supports);
  },
} as const satisfies Record<Output, Maker>;
