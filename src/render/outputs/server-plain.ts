import type { Writable } from 'node:stream';
import { RecentCalls } from '../../events/bounded-events.js';
import type { EndEvent, Event, RequestEvent } from '../../events/events.js';
import { Sessions } from '../../events/session-calls.js';
import { callNamedIn } from '../../protocol/callbacks.js';
import { isClosed, outputOf } from '../../system/streams.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { isRecord } from '../../util/values.js';
import { clipped, elapsed, type Line, line, quote, say, took } from '../line.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, styleLine } from '../terminal/theme.js';
import { newsOf } from '../tool-news.js';

/*
 * Prints the events of a server, for logs, pipes and screen readers. Untrusted text is made safe to print (threats, row 24). Memory is
 * bounded, however long a server runs.
 */

interface LineOptions {
  readonly level: ColourLevel;
  /** Removes secrets from the output (threats, row 25). */
  readonly redactor?: Redactor;
}

type News = (event: Event) => Line | null;

/** What is printed of the events of each server. Each function begins a new server. */
const NEWS = {
  /** URLs are left out, since they contain callback tokens (threats, row 25). */
  tool() {
    const calls = new RecentCalls();
    return event => {
      calls.apply(event);
      return newsOf(event, { call: calls.get(event.calls?.[0] ?? '')?.call });
    };
  },
  platform() {
    const sessions = new Sessions();
    return event => {
      sessions.apply(event);
      return newsOf(event, { sessions });
    };
  },
  recorder: recordedNews,
} as const satisfies Readonly<Record<string, () => News>>;

/** Writes each reported event of a server with its time. */
export function serverPlain(
  server: keyof typeof NEWS,
  stream: Writable,
  { level, redactor = createRedactor() }: LineOptions,
): (event: Event) => void {
  const newsOfEvent: News = NEWS[server]();
  const theme = createTheme(level);
  const output = outputOf(stream);
  return event => {
    const news = newsOfEvent(event);
    if (!news || isClosed(stream)) return;
    const clean = news.map(span => ({ ...span, text: redactor.text(span.text) }));
    output.news(() => [`${styleLine([say(`${elapsed(event.at).padStart(8)} `, 'dim'), ...clean], theme)}\n`]);
  };
}

/** A line for each recorded message once it is answered; null for other events. The forwarded request is shown only if it fails. */
function recordedNews(): News {
  const open = new Map<string, RequestEvent>();
  return event => {
    if (event.kind === 'request') open.set(event.leg, event);
    if (event.kind === 'warned') return [say('! ', 'warn'), ...clipped(event.message, 'warn', 2_000)];
    if (event.kind !== 'response' && event.kind !== 'broken') return null;
    const request = open.get(event.leg);
    open.delete(event.leg);
    return request ? messageLine(request, event) : null;
  };
}

function messageLine(request: RequestEvent, end: EndEvent): Line | null {
  const isForwarded = request.hop === (request.from === 'tool' ? 'runtime-side' : 'tool-side');
  if (isForwarded && end.kind === 'response') return null;
  if (isForwarded && end.kind === 'broken')
    return [say('! ', 'warn'), say(`no answer from the ${request.to}: `, 'warn'), ...quote(end.code, 'warn')];
  const direction = say(request.from === 'tool' ? '← ' : '→ ', 'running');
  return line`${direction}${messageWords(request)}  ${endWords(request, end)}${took(end.at - request.at, 'in')}`;
}

function endWords({ purpose, url }: RequestEvent, end: EndEvent): Line {
  if (end.kind === 'broken') return [say('broken off: ', 'bad'), ...quote(end.code, 'bad')];
  const { status, refusal } = end;
  if (purpose === 'callback' && refusal === 'wrong-address')
    return [
      say(`${status}: posted to `, 'bad'),
      ...quote(url, 'bad'),
      say(`, not to its callback URL`, 'bad'),
    ];
  const why = refusal === undefined ? [] : [say(' refused: ', 'bad'), ...quote(refusal, 'bad')];
  return [say(String(status), status < 300 ? 'good' : 'bad'), ...why];
}

/** Versions 4 and 7. The beginnings of UUIDs of version 7 are alike, their ends are random. */
const UUID = /[\da-f]{8}-[\da-f]{4}-[47][\da-f]{3}-[\da-f]{4}-[\da-f]{4}(?=[\da-f]{8})/gi;

/** The kind of a recorded message, its operation, and the shortened ids of its call and thread. */
function messageWords({ purpose, dialect, method, body, calls = [], thread }: RequestEvent): Line {
  const message = body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
  const member = (name: string) => (typeof message[name] === 'string' ? message[name] : '');
  const ofRap = purpose === 'callback' ? member('type') || 'callback' : purpose;
  const kind = dialect === 'mcp' ? method : ofRap;
  const operation = purpose === 'invocation' ? member('operation') : '';
  const named = body && callNamedIn(body.json);
  const [call, ofThread] = [calls[0] ?? named?.id, thread ?? named?.groupId].map(id =>
    id?.replace(UUID, '…'),
  );
  const inThread = ofThread !== undefined && [say(' (', 'dim'), ...clipped(ofThread, 'dim'), say(')', 'dim')];
  return line`${clipped(kind, 'title')}${operation !== '' && line` ${operation}`}${call !== undefined && line` ${call}`}${inThread}`;
}
