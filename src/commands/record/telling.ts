import { colourLevel } from '../../dress/colour-level.js';
import type { Log } from '../../exchange/log.js';
import { type TranscriptAbout, transcriptWriter } from '../../exchange/transcript-writer.js';
import type { Recorder } from '../../recorder/recorder.js';
import { warningText } from '../../reporters/trouble.js';
import { quietPipes } from '../../system/output.js';
import type { Redactor } from '../../text/redact.js';
import { isWildcard } from '../../transport/server.js';
import { BoundedLines } from '../bounded-lines.js';
import type { Terminal } from '../terminal.js';
import type { RecordPlan } from './plan.js';

export interface TellingDesk {
  readonly plan: RecordPlan;
  readonly terminal: Terminal;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
}

/** Says where the recorder is reached: for programs on stdout, for people where they look. */
export function tellReady(
  { port, url }: Recorder,
  { plan, terminal: { stdout, stderr } }: TellingDesk,
): void {
  const { flags, recorder } = plan;
  if (stdout.isTTY === true) stderr.write(`recording ${recorder.url}: point the runtime at ${url}\n`);
  else stdout.write(`${JSON.stringify({ port, url })}\n`);
  if (isWildcard(flags.host))
    stderr.write(warningText({ message: `the recorder is open to the network (--host ${flags.host})` }));
}

/** Tells what happens while it does. Returns how to end it. */
export async function startTelling(desk: TellingDesk): Promise<(reason: string) => void> {
  const { plan, terminal, log, redactor } = desk;
  if (plan.flags.output === 'ndjson') return events(desk);
  if (plan.flags.quiet) return () => {};
  const { recordedPlain } = await import('../../reporters/recorded-plain.js');
  const { stdout, stderr, env } = terminal;
  const stream = stdout.isTTY === true ? stdout : stderr;
  const level = colourLevel({ env, isTTY: stream.isTTY === true, noColor: !plan.flags.color });
  return log.subscribe(recordedPlain(stream, { level, redactor }));
}

/** Every event as it happens: the lines of a transcript. */
function events({ terminal: { stdout }, log, redactor, about }: TellingDesk): (reason: string) => void {
  const writer = transcriptWriter(redactor);
  let latest = { seq: 0, at: 0 };
  const why = 'whoever reads this is too slow for it';
  quietPipes(stdout);
  const lines = new BoundedLines(stdout, count =>
    writer.event({ kind: 'dropped', what: 'event', why, count, ...latest }),
  );
  lines.end(() => [writer.header(about)]);
  log.subscribe(event => {
    lines.write(() => writer.event(event));
    latest = { seq: event.seq, at: event.at };
  });
  return reason => lines.end(() => [writer.end(reason)]);
}
