import { withQuestionSecrets } from '../../exchange/callback-secrets.js';
import { History } from '../../exchange/history.js';
import { createLog, type Log } from '../../exchange/log.js';
import type { Paper, Reporter } from '../../reporters/reporter.js';
import { verboseTeller } from '../../reporters/verbose.js';
import type { Clock } from '../../system/clock.js';
import { cleanWords, createRedactor, type Redactor } from '../../text/redact.js';
import { readHeaders, secretsOf } from '../headers.js';
import { PROGRAM } from '../program.js';
import { saveTranscript } from '../save-transcript.js';
import type { Output, Terminal } from '../terminal.js';
import { outputFor } from './output.js';
import type { InvokeOptions } from './plan.js';
import { reporterFor } from './reporter-for.js';

/** Everybody who looks on: the fold, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly history: History;
  readonly redactor: Redactor;
  readonly reporter: Reporter;
  /** Whether somebody among them tells the bytes of messages; nobody else may need them. */
  readonly tellsBodies: boolean;
  /** Where `-v` is told; null where nobody asked for it. */
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
  const stderr = { write: (text: string) => terminal.stderr.write(cleanWords(redactor, text)) }; // what we tell quotes tools (threats, row 25)
  const paper: Paper = { stdout: terminal.stdout, stderr, quiet: options.quiet === true };
  const reporter = await reporterFor(output, { options, terminal, paper, history, redactor, about, clock });
  if (reporter.event) log.subscribe(reporter.event);
  const verbosely = options.verbose ? verboseWriter(output, terminal) : null;
  // On an MCP wire it is the messages themselves that are told: events have their own form.
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
