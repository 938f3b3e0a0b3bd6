import { colourLevel } from '../../dress/colour-level.js';
import type { Event } from '../../exchange/events.js';
import type { History } from '../../exchange/history.js';
import type { Log } from '../../exchange/log.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import { warningText } from '../../reporters/trouble.js';
import type { OpenListener } from '../../runtime/open-listener.js';
import type { Redactor } from '../../text/redact.js';
import { visibleLine } from '../../text/visible.js';
import { isWildcard } from '../../transport/server.js';
import { BoundedLines } from '../bounded-lines.js';
import type { Terminal } from '../terminal.js';
import { callbackWarnings } from './callback-warnings.js';
import type { Format, FormatOptions } from './formats/format.js';
import { jsonFormat } from './formats/json.js';
import { ndjsonFormat } from './formats/ndjson.js';
import { plainFormat } from './formats/plain.js';
import { type Heard, heardIn } from './heard.js';
import type { ListenFlags, ListenOutput } from './plan.js';

const FORMATS: Readonly<Record<ListenOutput, (options: FormatOptions) => Format>> = {
  plain: plainFormat,
  json: jsonFormat,
  ndjson: ndjsonFormat,
};

export interface TellingDesk {
  readonly log: Log;
  readonly flags: ListenFlags;
  readonly terminal: Terminal;
  readonly history: History;
  readonly listener: OpenListener;
  readonly redactor: Redactor;
  readonly about: Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>;
}

/** How what comes is told while it does. */
export interface Telling {
  end(reason: string): void;
}

/** Says first where tools reach us: for programs on stdout, for people where they look. */
export function tellReady({ flags, terminal, listener }: TellingDesk): void {
  const { stdout, stderr } = terminal;
  const { port, url, callbackUrl: callback_url } = listener;
  const paper = flags.output === 'plain' ? stdout : stderr;
  if (stdout.isTTY !== true) stdout.write(`${JSON.stringify({ port, url, callback_url })}\n`);
  else paper.write(`listening at ${url}, give tools this callback_url:\n${callback_url}\n`);
  if (!isWildcard(flags.host) || flags.quiet) return;
  stderr.write(warningText({ message: `the listener is open to the network (--host ${flags.host})` }));
}

/** What came, in the format asked for; what a person must see at once, and warnings, go to stderr. */
export function startTelling(desk: TellingDesk): Telling {
  const { flags, terminal, log, history, listener } = desk;
  const { stdout, stderr } = terminal;
  const format = FORMATS[flags.output](formatOptions(desk));
  let latest: Event | undefined;
  const lines = new BoundedLines(stdout, count => (latest ? format.lost(count, latest) : []));
  lines.end(() => format.begin);
  log.subscribe(event => {
    const heard = heardIn(history, listener.calls.expected, event);
    if (heard || format.isWhole) lines.write(() => format.lines(event, heard));
    latest = event;
    if (heard?.kind === 'callback') stderr.write(asideText(heard, flags, stdout.isTTY === true));
  });
  return { end: reason => lines.end(() => format.end(reason)) };
}

function formatOptions({ flags, terminal, redactor, about, listener }: TellingDesk): FormatOptions {
  const { stdout, env } = terminal;
  const isTTY = stdout.isTTY === true;
  const level = colourLevel({ env, isTTY, noColor: !flags.color });
  const width = isTTY ? { width: stdout.columns } : {};
  const { callbackUrl } = listener;
  return { supports: flags.supports, redactor, callbackUrl, about, level, isTTY, ...width };
}

function asideText(
  heard: Extract<Heard, { kind: 'callback' }>,
  { output, quiet, supports }: ListenFlags,
  isTTY: boolean,
): string {
  const isTold = output === 'json' || quiet === true;
  const warnings = isTold ? [] : callbackWarnings(heard, supports).map(warningText);
  return [...(output === 'plain' && isTTY ? [] : [consentText(heard)]), ...warnings].join('');
}

/** Whole, which it is nowhere else: it is for the person (RT-OAUTH). */
function consentText({ arrival: { message, verdict } }: Extract<Heard, { kind: 'callback' }>): string {
  if (message?.type !== 'oauth' || verdict.kind !== 'holds') return '';
  return `visit this URL to go on: ${visibleLine(message.auth_url)}\n`;
}
