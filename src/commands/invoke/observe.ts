import { colourLevel } from '../../dress/colour-level.js';
import { ProtocolCliError } from '../../errors.js';
import { History } from '../../exchange/history.js';
import { createLog, type Log } from '../../exchange/log.js';
import { transcriptWriter } from '../../exchange/transcript-writer.js';
import type { Paper, Reporter } from '../../reporters/reporter.js';
import { textReporter } from '../../reporters/text.js';
import { verboseTeller } from '../../reporters/verbose.js';
import type { Clock } from '../../system/clock.js';
import { createRedactor, type Redactor } from '../../text/redact.js';
import { readHeaders, secretsOf } from '../headers.js';
import { PROGRAM } from '../program.js';
import { canDraw, defaultOutput, type Output, type Terminal } from '../terminal.js';
import type { InvokeOptions } from './plan.js';

/** Everybody who looks on: the fold, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly history: History;
  readonly redactor: Redactor;
  readonly reporter: Reporter;
  /** Puts the transcript in its place, where one was asked for. @throws ProtocolCliError `unwritable-file`. */
  finish(reason: string): Promise<void>;
}

/** @throws ProtocolCliError `usage` for a live view without a terminal, `unwritable-file` for the transcript. */
export async function observe(
  options: InvokeOptions,
  terminal: Terminal,
  clock: Clock,
): Promise<Observation> {
  const output = outputOf(options, terminal);
  const log = createLog(() => clock.now());
  const history = new History();
  const redactor = createRedactor(secretsOf(readHeaders(options, terminal.env)));
  const about = { startedAt: clock.wall().toISOString(), observer: 'runtime', program: PROGRAM } as const;
  log.subscribe(event => history.apply(event));
  const finish =
    options.save === undefined ? async () => {} : await saveTranscript(log, options.save, redactor, about);
  const paper: Paper = { stdout: terminal.stdout, stderr: terminal.stderr, quiet: options.quiet === true };
  const reporter = await reporterFor(output, { options, terminal, paper, history, redactor, about, clock });
  if (reporter.event) log.subscribe(reporter.event);
  if (options.verbose) tellVerbosely(log, redactor, output, terminal);
  return { log, history, redactor, reporter, finish };
}

type About = Parameters<ReturnType<typeof transcriptWriter>['header']>[0];

function outputOf({ output }: InvokeOptions, terminal: Terminal): Output {
  if (output !== 'ui' || canDraw(terminal)) return output ?? defaultOutput(terminal);
  throw new ProtocolCliError(
    'usage',
    '-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI',
    {
      hint: '-o plain tells the same story in lines.',
    },
  );
}

async function saveTranscript(
  log: Log,
  path: string,
  redactor: Redactor,
  about: About,
): Promise<(reason: string) => Promise<void>> {
  const { createPrivateFile } = await import('../../system/private-file.js');
  const file = await createPrivateFile(path);
  const writer = transcriptWriter(redactor);
  await file.write(writer.header(about));
  log.keep(async event => {
    for (const line of writer.event(event)) await file.write(line);
  });
  return async reason => {
    await log.kept();
    await file.write(writer.end(reason));
    await file.commit();
  };
}

interface Desk {
  readonly options: InvokeOptions;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly history: History;
  readonly redactor: Redactor;
  readonly about: About;
  readonly clock: Clock;
}

/** Each output is loaded only when it is asked for: a pipe must not wait for a live view's libraries. */
async function reporterFor(output: Output, desk: Desk): Promise<Reporter> {
  const { options, terminal, paper, history, redactor, about, clock } = desk;
  switch (output) {
    case 'text':
      return textReporter(history, paper, { isTTY: terminal.stdout.isTTY === true });
    case 'json':
      return (await import('../../reporters/json.js')).jsonReporter(
        history,
        paper,
        redactor,
        options.supports,
      );
    case 'ndjson':
      return (await import('../../reporters/ndjson.js')).ndjsonReporter(
        history,
        paper,
        transcriptWriter(redactor),
        about,
      );
    case 'plain': {
      const { plainReporter } = await import('../../reporters/plain.js');
      const isTTY = terminal.stdout.isTTY === true;
      return plainReporter(history, paper, options.supports, { level: levelFor(desk), isTTY });
    }
    case 'ui': {
      const { liveReporter } = await import('../../ui/live/reporter.js');
      const { stdin, stdout } = terminal;
      return liveReporter({
        history,
        paper,
        stdin,
        stdout,
        clock,
        supports: options.supports,
        level: levelFor(desk),
      });
    }
  }
}

function levelFor({ options, terminal }: Desk) {
  const { stdout, env } = terminal;
  return colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !options.color });
}

function tellVerbosely(log: Log, redactor: Redactor, output: Output, { stderr }: Terminal): void {
  if (output !== 'ui') {
    log.subscribe(verboseTeller(redactor, text => stderr.write(text)));
    return;
  }
  // Written in between, it would tear the live view apart.
  const later: string[] = [];
  log.subscribe(verboseTeller(redactor, text => later.push(text)));
  process.once('exit', () => stderr.write(later.join('')));
}
