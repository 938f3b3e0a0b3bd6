import type { Body, Event, EventKind, EventOf, RequestEvent, ResponseEvent } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import { shareableText, shareableUrl, withoutSecretUrlsInText } from '../events/shareable.js';
import { isSuccess } from '../protocol/http-status.js';
import { redactHeaders } from '../util/headers.js';
import { prettyJson } from '../util/json-text.js';
import type { Redactor } from '../util/redact.js';
import { bytesText, decodeUtf8 } from '../util/text.js';
import { visible, visibleLine } from '../util/visible.js';
import { breakReason } from './calls.js';
import {
  clipped,
  DRIVER_ARROWS,
  type Layout,
  type Line,
  line,
  pluralize,
  type Span,
  say,
  TIME_MARGIN,
  textLines,
  timedLine,
  took,
} from './line.js';
import { wholeDrawing } from './panes.js';
import { type Step, stepLine, stepLines } from './step.js';

/** Maximum length of an untrusted text, in characters. */
const MAX = 2_000;

/** `→ POST http://127.0.0.1:3001/invoke invocation, 312 bytes`; the arrow shows the direction. */
function requestWords(event: RequestEvent, redactor: Redactor): Line {
  const { method, purpose, attempt, hop, body, from } = event;
  const about = [purpose, attempt > 1 ? `attempt ${attempt}` : '', hop ?? '', sizeOf(body)];
  return [
    say(from === 'tool' ? '← ' : '→ ', 'running'),
    ...clipped(`${method} ${shareableUrl(event, redactor)}`, 'title', MAX),
    say(` ${about.filter(Boolean).join(', ')}`, 'dim'),
  ];
}

/** A request, its answer or why there was none, and both bodies, created lazily. */
export function* roundTripLines(
  trip: RoundTrip,
  redactor: Redactor,
  look: Omit<Layout, 'count'> & { readonly width: number },
): Generator<Line> {
  yield roundTripWords(trip, redactor);
  yield* bodyLines(trip.request.body, '  ');
  yield* bodyLines(trip.response?.body, `  ${signsOf(trip.request).response} `);
  function* bodyLines(body: Body | undefined, margin: string): Generator<Line> {
    const text = bodyText(body, redactor);
    if (text === null) return;
    const width = Math.max(1, look.width - margin.length);
    const drawing = { kind: 'text', text: prettyJson(text) ?? text } as const;
    for (const line of wholeDrawing(drawing, { ...look, width })) yield [say(margin, 'gutter'), ...line];
  }
}

function roundTripWords({ request, end }: RoundTrip, redactor: Redactor): Line {
  const begin = [...requestWords(request, redactor), say('  ')];
  if (end === null) return [...begin, say('not answered', 'warn')];
  const words = end.kind === 'response' ? responseWords(end, redactor) : clipped(breakText(end), 'bad');
  return [...begin, ...words, took(end.at - request.at)];
}

/** The status of an answer, and why the listener refused the request. */
function responseWords({ status, refusal, body }: ResponseEvent, redactor: Redactor): Line {
  const isGood = isSuccess(status);
  const why = refusal !== undefined && line` refused: ${redactor.text(refusal)}`;
  const size = sizeOf(body);
  return line`answered ${say(String(status), isGood ? 'good' : 'bad')}${why}${size !== '' && say(` ${size}`, 'dim')}`;
}

function sizeOf(body: Body | undefined): string {
  return body && body.size > 0 ? bytesText(body.size) : '';
}

type WordsOf<Kind extends EventKind> = (
  event: EventOf<Kind>,
  foreign: (text: string) => Line,
  redactor: Redactor,
) => Line;

/** Describes an event on one line. */
const EVENT_WORDS: { readonly [Kind in EventKind]: WordsOf<Kind> } = {
  request: (event, _, redactor) => requestWords(event, redactor),
  response: (event, _, redactor) => responseWords(event, redactor),
  broken: event => clipped(breakText(event), 'bad'),
  expected: () => line`${kind('expected')}: another program sends the invocation`,
  answered: ({ by, unexpected = [] }, foreign) =>
    line`${kind('answered')} by the ${by}${unexpected.flatMap(what => [say('; ', 'dim'), ...foreign(what)])}`,
  denied: ({ by, reason }, foreign) => line`${kind('denied')} by a ${by}: ${foreign(reason)}`,
  loaded: ({ toolset, operations }, foreign) =>
    line`${kind('loaded')} ${foreign(toolset)}${say(`, ${pluralize(operations.length, 'operation')}`, 'dim')}`,
  decided: ({ what, by, value }, foreign) =>
    line`${kind('decided')} ${what}${value !== undefined && line` ${foreign(String(value))}`}${say(` by a ${by}`, 'dim')}`,
  expired: ({ what, afterMs }) => line`${kind('expired')} ${what}${took(afterMs)}`,
  matched({ fixture, nearest }, foreign) {
    if (fixture !== null) return line`${kind('matched')} ${foreign(fixture)}`;
    return line`${kind('matched')}${say(' no fixture', 'warn')}${nearest && line`; nearest: ${foreign(nearest.fixture)}`}`;
  },
  shaped: ({ by, changes }, foreign) =>
    line`${kind('shaped')} by ${by}: ${foreign(changes.map(({ path, change }) => `${change} ${path}`).join(', '))}`,
  planned: ({ by, plan, unsupported }, foreign) =>
    line`${kind('planned')} by a ${by}: ${foreign(plan)}${unsupported && line`; not run, since the driver does not support ${foreign(unsupported.join(', '))}`}`,
  warned: ({ message }, foreign) => line`${kind('warned')} ${foreign(message)}`,
  session: ({ status }, foreign) => line`${kind('session')} ${foreign(status)}`,
  awaiting: ({ pending }) => line`${kind('awaiting')} ${pluralize(pending.length, 'call')}`,
  driver: ({ from, body, ended }, foreign) =>
    line`${kind('driver')} ${DRIVER_ARROWS[from]} ${foreign(ended ?? body?.text ?? '')}`,
  exited: ({ message }, foreign) => line`${kind('exited')} ${foreign(message)}`,
  dropped: ({ what, why, count }, foreign) =>
    line`${kind('dropped')} ${count === 1 ? '' : `${count} × `}${what}: ${foreign(why)}`,
};

function kind(name: EventKind): Span {
  return say(name, 'title');
}

/** An event of a call, and the steps that it completed. */
export interface TimelineEntry {
  readonly event: Event;
  readonly steps: readonly Step[];
}

const INDENT = say(' '.repeat(TIME_MARGIN + 3), 'gutter');

const BAR = say('│ ', 'gutter');

/**
 * Each event with its time since the beginning of the call, and the steps that it completed; then the running steps. Without secrets.
 * @param begunAt ms since the start
 * @param showsBytes adds the raw messages
 */
export function timelineLines(
  entries: readonly TimelineEntry[],
  running: readonly Step[],
  begunAt: number,
  redactor: Redactor,
  showsBytes = false,
): Line[] {
  const ended = entries.flatMap(entry => entryLines(entry, begunAt, redactor, showsBytes));
  return [...ended, ...running.map(step => lineBelow(stepLine(step)))];
}

function entryLines(
  { event, steps }: TimelineEntry,
  begunAt: number,
  redactor: Redactor,
  showsBytes: boolean,
): Line[] {
  const wordsOf = EVENT_WORDS[event.kind] as WordsOf<EventKind>;
  const words = wordsOf(event, text => clipped(redactor.text(text), 'plain', MAX), redactor);
  const body = showsBytes && 'body' in event && event.body;
  const clean = (line: Line) => line.map(span => ({ ...span, text: redactor.text(span.text) }));
  return [
    timedLine(Math.max(0, event.at - begunAt), words),
    ...(body ? rawLines(body, redactor) : []).map(raw => lineBelow([BAR, ...raw])),
    ...steps.flatMap(stepLines).map(line => lineBelow(clean(line))),
  ];
}

/** Indents a line below an event. */
function lineBelow(below: Line): Line {
  return [INDENT, ...below];
}

/** Limits of the body shown; the wire view shows all of it. */
const SHOWN = { lines: 40, characters: 16_000, bytes: 256 };

/** Number of bytes read: more than shown, so that no secret is cut in half. */
const READ = 4_096;

/** Number of bytes per row. */
const ROW = 16;

/** The beginning of a raw body, safe to print: UTF-8 as text, other bytes in hex. Without secrets. */
function rawLines(body: Body, redactor: Redactor): readonly Line[] {
  const { size, bytes } = body;
  if (size === 0) return [];
  const rest: Line = [say(`… of ${bytesText(size)} in all`, 'dim')];
  const text = beginningText(body, redactor);
  if (text !== null) {
    const { lines, total } = textLines(text.slice(0, SHOWN.characters), SHOWN.lines);
    return total === lines.length && text.length <= SHOWN.characters ? lines : [...lines, rest];
  }
  const latin = Buffer.from(bytes.subarray(0, READ)).toString('latin1');
  const clean = Buffer.from(redactor.text(withoutSecretUrlsInText(latin)), 'latin1').subarray(0, SHOWN.bytes);
  const lines = Array.from({ length: Math.ceil(clean.length / ROW) }, (_, row) => hexLine(clean, row * ROW));
  return size <= SHOWN.bytes ? lines : [...lines, rest];
}

/** A row of a hex dump: `0000  66 6f 6f ff  foo.` */
function hexLine(bytes: Uint8Array, from: number): Line {
  const row = Array.from(bytes.subarray(from, from + ROW));
  const hex = row.map(byte => byte.toString(16).padStart(2, '0')).join(' ');
  const text = row.map(byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
  const offset = from.toString(16).padStart(4, '0');
  return [say(`${offset}  `, 'gutter'), say(hex.padEnd(ROW * 3)), say(` ${text}`, 'dim')];
}

/** Maximum length of a header line, in characters. */
const MAX_HEAD = 8_000;

/** As in curl: `>` marks what is sent to the tool or the platform, `<` what it sends. */
function signsOf({ from }: RequestEvent) {
  return from === 'tool' ? { request: '<', response: '>' } : { request: '>', response: '<' };
}

/** A request and its response as curl shows them, without secrets: heads as lines, and bodies. */
export function tripParts(trip: RoundTrip, redactor: Redactor): readonly (readonly Line[] | Body)[] {
  const [sent, received] = [trip.request.body, trip.response?.body];
  return [
    requestHead(trip.request, redactor),
    ...(sent && sent.size > 0 ? [sent] : []),
    endHead(trip, redactor),
    ...(received && received.size > 0 ? [received] : []),
  ];
}

function requestHead(request: RequestEvent, redactor: Redactor): readonly Line[] {
  const about = [request.purpose, ...(request.hop === undefined ? [] : [request.hop])].join(', ');
  return headLines(`${signsOf(request).request} `, request, redactor, say(`  ${about}`, 'dim'));
}

/** The status line and headers of the response, or why it is missing. */
function endHead({ request, end }: RoundTrip, redactor: Redactor): readonly Line[] {
  if (end === null) return [[say('… ', 'running'), say('not answered yet', 'dim')]];
  const after = took(end.at - request.at, ' after');
  if (end.kind === 'response') return headLines(`${signsOf(request).response} `, end, redactor, after);
  return [[say('* ', 'bad'), ...clipped(breakText(end), 'bad'), after]];
}

function headLines(
  sign: string,
  event: RequestEvent | ResponseEvent,
  redactor: Redactor,
  aside: Span,
): Line[] {
  const [first = '', ...fields] = headText(event, redactor);
  const gutter = say(sign, 'gutter');
  return [
    [gutter, ...clipped(first, 'title', MAX_HEAD), aside],
    ...fields.map(field => [gutter, ...clipped(field, 'plain', MAX_HEAD)]),
  ];
}

/** The first line and the headers of a message, without secrets. Untrusted text. */
function headText(event: RequestEvent | ResponseEvent, redactor: Redactor): readonly string[] {
  const isRequest = event.kind === 'request';
  const first = isRequest ? `${event.method} ${shareableUrl(event, redactor)}` : String(event.status);
  const fields = Object.entries(redactHeaders(event.headers, redactor));
  return [first, ...fields.map(([name, value]) => `${name}: ${value}`)];
}

/** A body or its beginning, without secrets; its size if it is not text; null without a body. */
export function bodyText(body: Body | undefined, redactor: Redactor, isWhole = true): string | null {
  if (!body || body.size === 0) return null;
  const text = isWhole ? shareableText(body, redactor) : beginningText(body, redactor);
  return text ?? `(${bytesText(body.size)} that are not UTF-8)`;
}

/** Number of bytes read of a larger body. */
const LARGE = 64 * 1024;

/** The beginning of a body, without secrets; null if it is not text. Callers must show far less than 64 KiB of it. */
function beginningText(body: Body, redactor: Redactor): string | null {
  if (body.size <= LARGE) return shareableText(body, redactor);
  const text = decodeUtf8(body.bytes);
  return text === null ? null : redactor.text(withoutSecretUrlsInText(text.slice(0, LARGE)));
}

/** Why a request got no response. */
function breakText({ code, phase }: EventOf<'broken'>): string {
  const reason = breakReason(code);
  return reason === code ? `not answered: ${code} (${phase})` : `not answered: ${reason}`;
}

const MAX_BODY = 64 * 1024;

/**
 * `-v`: every message except discovery, marked as in curl: `>` was sent by this program, `<` was received. Without secrets, and safe to
 * print.
 */
export function verbosePrinter(redactor: Redactor, write: (text: string) => unknown): (event: Event) => void {
  const pending = new Map<string, RequestEvent>();
  return event => {
    if (event.kind === 'request' && event.purpose !== 'discovery') {
      pending.set(event.leg, event);
      write(messageText(signsOf(event).request, event, redactor));
    }
    if (event.kind !== 'response' && event.kind !== 'broken') return;
    const request = pending.get(event.leg);
    pending.delete(event.leg);
    if (!request) return;
    if (event.kind === 'broken') write(`* ${visibleLine(breakText(event))}\n`);
    else write(messageText(signsOf(request).response, event, redactor) + noteOn(request, event));
  };
}

/** A remark on a body of an acknowledgement; the warnings of a call name one that has an outcome. */
function noteOn({ purpose }: RequestEvent, { status, body }: ResponseEvent): string {
  if (purpose !== 'invocation' || status !== 200 || !body || body.size === 0) return '';
  return '* note: no runtime reads the body of an acknowledgement\n';
}

function messageText(sign: string, event: RequestEvent | ResponseEvent, redactor: Redactor): string {
  const head = headText(event, redactor).map(field => `${sign} ${visibleLine(field)}\n`);
  const body = bodyText(event.body, redactor);
  if (body === null) return head.join('');
  const rest = body.length > MAX_BODY ? `\n… ${body.length - MAX_BODY} more characters` : '';
  return `${head.join('')}\n${visible(body.slice(0, MAX_BODY))}${rest}\n`;
}
