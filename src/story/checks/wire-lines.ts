import type { Content } from '../../exchange/content.js';
import type { Event, RequestEvent } from '../../exchange/events.js';
import { shareableText, shareableUrl, withoutPowerInText } from '../../exchange/shareable.js';
import { cut } from '../../text/cut.js';
import { formatDuration } from '../../text/format-duration.js';
import { decodeUtf8 } from '../../text/json.js';
import type { Redactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';

/** Requests shown of those that prove something; the others are in the transcript. */
const MOST_LEGS = 4;
/** Characters of a body that a person reads. */
const PIECE = 240;
/** Of a larger body only its beginning is looked at. */
const LARGE = 64 * 1024;

/** What was on the wire, for whoever wants to see for themselves. */
export interface WireRecord {
  readonly events: readonly Event[];
  readonly redactor: Redactor;
}

/** The requests among these events, each with what became of it and a piece of its bodies, secrets out. */
export function wireLines(seqs: readonly number[], record: WireRecord): readonly Line[] {
  const requests = requestsAmong(new Set(seqs), record.events);
  const rest = requests.length - MOST_LEGS;
  return [
    ...requests.slice(0, MOST_LEGS).flatMap(request => legLines(request, record)),
    ...(rest > 0 ? [[say('│ ', 'gutter'), say(`… ${rest} more`, 'dim')]] : []),
  ];
}

/** Those whose answer is meant too. */
function requestsAmong(wanted: ReadonlySet<number>, events: readonly Event[]): RequestEvent[] {
  const legs = new Set(events.flatMap(event => (wanted.has(event.seq) && 'leg' in event ? [event.leg] : [])));
  return events.filter(event => event.kind === 'request').filter(({ leg }) => legs.has(leg));
}

function legLines(request: RequestEvent, { events, redactor }: WireRecord): Line[] {
  const end = events.find(
    event => (event.kind === 'response' || event.kind === 'broken') && event.leg === request.leg,
  );
  const line: Line = [
    say('│ ', 'gutter'),
    ...quote(`${request.method} ${shareableUrl(request, redactor)}`),
    ...endOf(end, request.at),
  ];
  const said = end?.kind === 'response' ? pieceOf(end.body, redactor, '← ') : [];
  return [line, ...pieceOf(request.body, redactor, ''), ...said];
}

function endOf(end: Event | undefined, since: number): Line {
  if (end?.kind !== 'response' && end?.kind !== 'broken') return [say(' is not answered', 'dim')];
  const took = say(` after ${formatDuration(Math.max(0, end.at - since))}`, 'dim');
  const what = end.kind === 'response' ? String(end.status) : `${end.phase}: ${end.code}`;
  return [say(' → ', 'dim'), ...quote(what), took];
}

function pieceOf(body: Content | undefined, redactor: Redactor, mark: string): Line[] {
  if (!body || body.size === 0) return [];
  const text = body.size > LARGE ? beginningOf(body, redactor) : shareableText(body, redactor);
  const shown = text === null ? `(${body.size} bytes that are not UTF-8)` : cut(text, PIECE);
  return [[say('│   ', 'gutter'), ...quote(mark + shown, 'dim')]];
}

/** So much more than is shown that no half of a secret is left at its end. */
function beginningOf({ bytes }: Content, redactor: Redactor): string | null {
  const text = decodeUtf8(bytes);
  return text === null ? null : redactor.text(withoutPowerInText(text.slice(0, LARGE)));
}
