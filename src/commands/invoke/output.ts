import type { DialectName } from '../../dialects/dialect.js';
import { History } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import { withQuestionSecrets } from '../../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import type { Paper, Reporter } from '../../render/outputs/reporter.js';
import { textReporter } from '../../render/outputs/text.js';
import { wrapMessages } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { verboseTeller } from '../../render/wire.js';
import type { Clock } from '../../system/drafts.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { cleanWords, createRedactor, type Redactor } from '../../util/redact.js';
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
  if (repeat !== undefined) return outputOfMany(output);
  if (output !== 'ui' || canDraw(terminal)) return output ?? defaultOutput(terminal);
  throw new ProtocolCliError(
    'usage',
    '-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI',
    {
      hint: 'Use -o plain.',
    },
  );
}

/** Many calls have no one text, and no one view. */
function outputOfMany(output: Output = 'plain'): Output {
  if (output !== 'text' && output !== 'ui') return output;
  throw new ProtocolCliError('usage', `-o ${output} shows one call, but --repeat makes many`, {
    hint: 'Use -o plain (a line for each call) or -o json (one object).',
  });
}

/** What reporters tell from, and where. */
interface Desk {
  readonly options: InvokeOptions;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly history: History;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly clock: Clock;
}

/** Each output is loaded only when it is asked for: a pipe must not wait for a live view's libraries. */
async function reporterFor(output: Output, desk: Desk): Promise<Reporter> {
  return desk.options.repeat === undefined ? FOR_ONE[output](desk) : FOR_MANY[output](desk);
}

type Making = (desk: Desk) => Reporter | Promise<Reporter>;

const ndjson: Making = async ({ history, paper, redactor, about }) => {
  const { ndjsonReporter } = await import('../../render/outputs/text.js');
  return ndjsonReporter(history, paper, transcriptWriter(redactor), about);
};

async function inDialect(
  dialect: DialectName,
  { history, paper, redactor }: Pick<Desk, 'history' | 'paper' | 'redactor'>,
): Promise<Reporter> {
  const { dialectReporter } = await import('../../render/outputs/dialect.js');
  return dialectReporter(history, paper, redactor, dialect);
}

const FOR_ONE: Readonly<Record<Output, Making>> = {
  text: ({ history, paper, terminal, options }) =>
    textReporter(history, paper, {
      isTTY: terminal.stdout.isTTY === true,
      follows: options.follow === true,
    }),
  json: async ({ history, paper, redactor, options }) => {
    if (options.dialect !== undefined) return inDialect(options.dialect, { history, paper, redactor });
    const { jsonReporter } = await import('../../render/outputs/call-report.js');
    return jsonReporter(history, paper, redactor, options.supports);
  },
  ndjson,
  plain: async desk => {
    const { plainReporter } = await import('../../render/outputs/plain.js');
    const isTTY = desk.terminal.stdout.isTTY === true;
    const { history, paper, options, redactor } = desk;
    return plainReporter(history, paper, options.supports, { level: levelFor(desk), isTTY, redactor });
  },
  ui: async desk => {
    const { liveReporter } = await import('../../tui/live/reporter.js');
    const { history, paper, clock, options, terminal } = desk;
    const { stdin, stdout, interrupt } = terminal;
    const { supports, timeout: timeoutMs } = options;
    // Credentials only: the URL that a person has to visit stays whole.
    const redact = createRedactor(secretsOf(readHeaders(options, terminal.env))).text;
    const to = { paper, stdin, stdout, level: levelFor(desk), redact };
    return liveReporter({ ...to, history, clock, timeoutMs, supports, interrupt });
  },
};

const manyInLines: Making = async desk => {
  const { plainRepeats } = await import('../../render/outputs/repeats.js');
  return plainRepeats(desk.history, desk.paper, { level: levelFor(desk), redactor: desk.redactor });
};

/** Of many calls there is no one text and no one view: `outputFor` has refused those. */
const FOR_MANY: Readonly<Record<Output, Making>> = {
  text: manyInLines,
  json: async ({ history, paper, redactor, options }) => {
    const { jsonRepeats } = await import('../../render/outputs/repeats.js');
    return jsonRepeats(history, paper, redactor, options.supports);
  },
  ndjson,
  plain: manyInLines,
  ui: manyInLines,
};

function levelFor({ options, terminal }: Desk) {
  const { stdout, env } = terminal;
  return colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !options.color });
}

/** Everybody who looks on: the fold, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly history: History;
  readonly redactor: Redactor;
  readonly reporter: Reporter;
  /** Whether one of them prints the bytes of messages. */
  readonly tellsBodies: boolean;
  /** Where `-v` prints; null without it. */
  readonly verbosely: ((text: string) => void) | null;
  /** Puts the transcript in its place, where one was asked for. @throws ProtocolCliError `unwritable-file`. */
  finish(reason: string): Promise<void>;
}

/** @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file` for the transcript. */
export async function observe(
  options: InvokeOptions,
  terminal: Terminal,
  clock: Clock,
): Promise<Observation> {
  const output = outputFor(options, terminal);
  const log = createLog(() => clock.now());
  const redactor = withQuestionSecrets(createRedactor(secretsOf(readHeaders(options, terminal.env))));
  const history = new History(true, redactor.text);
  const about = { startedAt: clock.wall().toISOString(), observer: 'runtime', program: PROGRAM } as const;
  log.subscribe(event => history.apply(event));
  log.subscribe(event => redactor.learn(event));
  const finish =
    options.save === undefined
      ? async () => {}
      : await saveTranscript(log, options.save, redactor, about, terminal);
  const stderr = {
    // Messages may quote tools (threats, row 25).
    write: (text: string) => terminal.stderr.write(wrapMessages(cleanWords(redactor, text), terminal.stderr)),
  };
  const paper: Paper = { stdout: terminal.stdout, stderr, quiet: options.quiet === true };
  const reporter = await reporterFor(output, { options, terminal, paper, history, redactor, about, clock });
  if (reporter.event) log.subscribe(reporter.event);
  const verbosely = options.verbose ? verboseWriter(output, terminal) : null;
  // For MCP, -v prints the messages themselves.
  if (verbosely && options.mcp === undefined) log.subscribe(verboseTeller(redactor, verbosely));
  return { log, history, redactor, reporter, tellsBodies: tellsBodies(options, output), verbosely, finish };
}

/** `-v`, and every transcript. */
function tellsBodies({ verbose = false, save }: InvokeOptions, output: Output): boolean {
  return verbose || save !== undefined || output === 'ndjson';
}

/** At once, but for the live view: written in between, it would tear that apart. */
function verboseWriter(output: Output, { stderr }: Terminal): (text: string) => void {
  if (output !== 'ui') return text => void stderr.write(text);
  const later: string[] = [];
  process.once('exit', () => stderr.write(later.join('')));
  return text => void later.push(text);
}
