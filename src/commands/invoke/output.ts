import { History } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import { withQuestionSecrets } from '../../events/shareable.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import type { Paper, Reporter } from '../../render/outputs/reporter.js';
import { textReporter } from '../../render/outputs/text.js';
import { wrapMessages } from '../../render/outputs/trouble.js';
import { verboseTeller } from '../../render/wire.js';
import type { Clock } from '../../system/clock.js';
import { secretsOf } from '../../util/credentials.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { usage } from '../options.js';
import { colourOf } from '../output.js';
import { saveTranscript } from '../save-files.js';
import { readHeaders } from '../target.js';
import { canDraw, defaultOutput, type Output, PROGRAM, type Terminal } from '../terminal.js';
import type { InvokeOptions } from './plan.js';

/**
 * The output of `-o`, or the default for the terminal.
 * @throws ProtocolCliError `usage` for one that is not possible here.
 */
export function outputFor({ output, repeat, dialect }: InvokeOptions, terminal: Terminal): Output {
  if (dialect !== undefined) return 'json';
  if (repeat !== undefined && (output === 'text' || output === 'ui'))
    throw usage(
      `-o ${output} shows one call, but --repeat makes many`,
      'Use -o plain (a line for each call) or -o json (one object).',
    );
  if (output === 'ui' && !canDraw(terminal))
    throw usage('-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI', 'Use -o plain.');
  return output ?? (repeat === undefined ? defaultOutput(terminal) : 'plain');
}

/** The log of a run with its readers: the history, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly history: History;
  readonly redactor: Redactor;
  readonly reporter: Reporter;
  /** Whether an output prints the bytes of messages. */
  readonly tellsBodies: boolean;
  /** Where `-v` prints; null without it. */
  readonly verbosely: ((text: string) => void) | null;
  /** Writes the transcript, if there is one. @throws ProtocolCliError `unwritable-file`. */
  finish(reason: string): Promise<void>;
}

/** @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file` for the transcript. */
export async function observe(
  options: InvokeOptions,
  terminal: Terminal,
  clock: Clock,
): Promise<Observation> {
  const output = outputFor(options, terminal);
  const { save, verbose = false, quiet = false } = options;
  const secrets = secretsOf(readHeaders(options, terminal.env));
  const log = createLog(() => clock.now());
  const redactor = withQuestionSecrets(createRedactor(secrets));
  const history = new History(true, redactor.text);
  const startedAt = clock.wall().toISOString();
  const about = { startedAt, observer: 'runtime', program: PROGRAM } as const;
  log.subscribe(event => history.apply(event));
  log.subscribe(event => redactor.learn(event));
  const finish =
    save === undefined ? async () => {} : await saveTranscript(log, save, redactor, about, terminal);
  // Messages may quote tools (threats, row 25).
  const write = (text: string) => terminal.stderr.write(wrapMessages(redactor.text(text), terminal.stderr));
  const paper: Paper = { stdout: terminal.stdout, stderr: { write }, quiet };
  const make = options.repeat === undefined ? FOR_ONE[output] : FOR_MANY[output];
  const reporter = await make({ options, terminal, paper, history, redactor, about, clock, secrets });
  if (reporter.event) log.subscribe(reporter.event);
  const verbosely = verbose ? verboseWriter(output, terminal) : null;
  // For MCP, -v prints the messages themselves.
  if (verbosely && options.mcp === undefined) log.subscribe(verboseTeller(redactor, verbosely));
  const tellsBodies = verbose || save !== undefined || output === 'ndjson';
  return { log, history, redactor, reporter, tellsBodies, verbosely, finish };
}

interface Making {
  readonly options: InvokeOptions;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly history: History;
  readonly redactor: Redactor;
  readonly about: Parameters<typeof saveTranscript>[3];
  readonly clock: Clock;
  readonly secrets: readonly string[];
}

/** Makes a reporter. Each is loaded only when it is asked for: a pipe must not wait for the libraries of the live view. */
type Maker = (making: Making) => Reporter | Promise<Reporter>;

const ndjson: Maker = async ({ history, paper, redactor, about }) => {
  const { ndjsonReporter } = await import('../../render/outputs/text.js');
  return ndjsonReporter(history, paper, transcriptWriter(redactor), about);
};

const FOR_ONE = {
  ndjson,
  text: ({ history, paper, terminal, options: { follow = false } }) =>
    textReporter(history, paper, { isTTY: terminal.stdout.isTTY === true, follows: follow }),
  json: async ({ history, paper, redactor, options: { dialect, supports } }) => {
    if (dialect === undefined)
      return (await import('../../render/outputs/call-report.js')).jsonReporter(
        history,
        paper,
        redactor,
        supports,
      );
    const { dialectReporter } = await import('../../render/outputs/dialect.js');
    return dialectReporter(history, paper, redactor, dialect);
  },
  plain: async ({ history, paper, options, redactor, terminal }) => {
    const { plainReporter } = await import('../../render/outputs/plain.js');
    const isTTY = terminal.stdout.isTTY === true;
    const level = colourOf(terminal.stdout, options, terminal);
    return plainReporter(history, paper, options.supports, { level, isTTY, redactor });
  },
  ui: async ({ history, paper, clock, options, terminal, secrets }) => {
    const { liveReporter } = await import('../../tui/live/reporter.js');
    const { stdin, stdout, interrupt } = terminal;
    const { supports, timeout: timeoutMs } = options;
    const level = colourOf(stdout, options, terminal);
    const redact = createRedactor(secrets).text; // credentials only: a URL that a person has to visit stays whole
    const screen = { paper, stdin, stdout, level, redact };
    return liveReporter({ ...screen, history, clock, timeoutMs, supports, interrupt });
  },
} as const satisfies Record<Output, Maker>;

const linesOfMany: Maker = async ({ history, paper, redactor, options, terminal }) => {
  const { plainRepeats } = await import('../../render/outputs/repeats.js');
  return plainRepeats(history, paper, { level: colourOf(terminal.stdout, options, terminal), redactor });
};

const FOR_MANY = {
  ndjson,
  text: linesOfMany,
  plain: linesOfMany,
  ui: linesOfMany,
  json: async ({ history, paper, redactor, options }) => {
    const { jsonRepeats } = await import('../../render/outputs/repeats.js');
    return jsonRepeats(history, paper, redactor, options.supports);
  },
} as const satisfies Record<Output, Maker>;

/** Prints at once, except beside the live view, which that would tear apart. */
function verboseWriter(output: Output, { stderr }: Terminal): (text: string) => void {
  if (output !== 'ui') return text => void stderr.write(text);
  const later: string[] = [];
  process.once('exit', () => stderr.write(later.join('')));
  return text => void later.push(text);
}
