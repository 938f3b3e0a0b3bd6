import type { Book } from '../events/call-log.js';
import type { Content } from '../events/content.js';
import { discoveryOf } from '../events/discovery-of.js';
import type { Event, EventKind, RequestEvent, ResponseEvent } from '../events/events.js';
import {
  acknowledgedAfter,
  type Exchange,
  isSubscribed,
  outcomeOf,
  type Settlement,
} from '../events/exchange.js';
import { shareableUrl, withoutPowerInText } from '../events/shareable.js';
import { formatDuration } from '../util/format-duration.js';
import { bytesText } from '../util/json-diagnosis.js';
import { cleanWords, type Redactor } from '../util/redact.js';
import { onceEach } from '../util/safe-to-visit.js';
import { clipped, type Line, runningClock, type Span, say, type Tone, textLines } from './line.js';
import { outcomeWords } from './session-calls.js';
import type { Step } from './step-arrivals.js';
import { stepLines } from './steps.js';
import { elapsed } from './tool-call-details.js';
import { beginningText, breakText, headText } from './toolset.js';

/**
 * What there is to judge a call by: its own events, the discovery of its tool, and what came to no call's address while this one
 * waited. In the order in which they happened.
 */
export function concerning(book: Book, exchange: Exchange): readonly Event[] {
  const own = book.of(exchange.key);
  const nobodys = book.of(null);
  const [first] = own;
  if (!first) return [];
  const discovery = discoveryOf(nobodys, { endpoint: exchange.endpoint, seq: first.seq });
  const strays = strayIn(nobodys, first.at, exchange.settled?.at ?? Number.POSITIVE_INFINITY);
  return [...discovery, ...strays, ...own].sort((a, b) => a.seq - b.seq);
}

/** Callbacks of nobody, and what was answered. @param from ms, @param to ms */
function strayIn(events: readonly Event[], from: number, to: number): readonly Event[] {
  const isStray = ({ purpose, at }: RequestEvent) => purpose === 'callback' && at >= from && at <= to;
  const legs = new Set(
    events.flatMap(event => (event.kind === 'request' && isStray(event) ? [event.leg] : [])),
  );
  return events.filter(event => 'leg' in event && legs.has(event.leg ?? ''));
}

/** Characters of a URL. */
const WIRE_WORDS_MOST = 2_000;

/** `→ POST http://127.0.0.1:3001/invoke invocation, 312 bytes`: towards the tool, or from it. */
export function requestWords(event: RequestEvent, redactor: Redactor): Line {
  const { method, purpose, attempt, hop, body } = event;
  const about = [
    purpose,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(hop === undefined ? [] : [hop]),
    ...sizeOf(body),
  ];
  return [
    say(event.from === 'tool' ? '← ' : '→ ', 'running'),
    ...clipped(`${method} ${shareableUrl(event, redactor)}`, 'title', WIRE_WORDS_MOST),
    say(` ${about.join(', ')}`, 'dim'),
  ];
}

/** What was answered, and why if a listener refused it. */
export function responseWords({ status, refusal, body }: ResponseEvent, redactor: Redactor): Line {
  const why = refusal === undefined ? [] : [say(' refused: '), ...clipped(cleanWords(redactor, refusal))];
  const size = sizeOf(body).map(words => say(` ${words}`, 'dim'));
  return [say('answered '), say(String(status), toneOf(status)), ...why, ...size];
}

function breakWords(event: Extract<Event, { kind: 'broken' }>): Line {
  return clipped(breakText(event), 'bad');
}

function toneOf(status: number): Tone {
  return status >= 200 && status < 300 ? 'good' : 'bad';
}

function sizeOf(body: Content | undefined): string[] {
  if (!body || body.size === 0) return [];
  return [bytesText(body.size)];
}

type Tell<Kind extends EventKind> = (event: Extract<Event, { kind: Kind }>, redactor: Redactor) => Line;

/** Characters of one foreign text. */
const EVENT_WORDS_MOST = 2_000;

/** Any fact on one line: what was on the wire, what was decided, what was waited for in vain. Secrets out. */
export function eventWords(event: Event, redactor: Redactor): Line {
  const tell = WORDS[event.kind] as Tell<EventKind>;
  return tell(event, redactor);
}

const WORDS: { readonly [Kind in EventKind]: Tell<Kind> } = {
  request: requestWords,
  response: responseWords,
  broken: breakWords,
  expected: () => [say('expected', 'title'), say(': another program sends the invocation')],
  answered: ({ by, unexpected = [] }, redactor) => {
    const odd = unexpected.flatMap(what => [say('; ', 'dim'), ...foreign(what, redactor)]);
    return [say('answered', 'title'), say(` by the ${by}`), ...odd];
  },
  denied: ({ by, reason }, redactor) => [
    say('denied', 'title'),
    say(` by a ${by}: `),
    ...foreign(reason, redactor),
  ],
  loaded: ({ toolset, operations }, redactor) => {
    const count = `${operations.length} operation${operations.length === 1 ? '' : 's'}`;
    return [say('loaded', 'title'), say(' '), ...foreign(toolset, redactor), say(`, ${count}`, 'dim')];
  },
  decided: ({ what, by, value }, redactor) => {
    const chosen = value === undefined ? [] : [say(' '), ...foreign(String(value), redactor)];
    return [say('decided', 'title'), say(` ${what}`), ...chosen, say(` by a ${by}`, 'dim')];
  },
  expired: ({ what, afterMs }) => [
    say('expired', 'title'),
    say(` ${what}`),
    say(` after ${formatDuration(afterMs)}`, 'dim'),
  ],
  matched: ({ fixture, nearest }, redactor) => {
    if (fixture !== null) return [say('matched', 'title'), say(' '), ...foreign(fixture, redactor)];
    const near = nearest ? [say('; nearest: '), ...foreign(nearest.fixture, redactor)] : [];
    return [say('matched', 'title'), say(' no fixture', 'warn'), ...near];
  },
  shaped: ({ by, changes }, redactor) => [
    say('shaped', 'title'),
    say(` by ${by}: `),
    ...foreign(changes.map(({ path, change }) => `${change} ${path}`).join(', '), redactor),
  ],
  planned: ({ by, plan }, redactor) => [
    say('planned', 'title'),
    say(` by a ${by}: `),
    ...foreign(plan, redactor),
  ],
  warned: ({ message }, redactor) => [say('warned', 'title'), say(' '), ...foreign(message, redactor)],
  session: ({ status }, redactor) => [say('session', 'title'), say(' '), ...foreign(status, redactor)],
  awaiting: ({ pending }) => [
    say('awaiting', 'title'),
    say(` ${pending.length} call${pending.length === 1 ? '' : 's'}`),
  ],
  dropped: ({ what, why, count }, redactor) => [
    say('dropped', 'title'),
    say(` ${count === 1 ? '' : `${count} × `}${what}: `),
    ...foreign(why, redactor),
  ],
};

function foreign(text: string, redactor: Redactor): Line {
  return clipped(redactor.text(text), 'plain', EVENT_WORDS_MOST);
}

/** Bytes in a row. */
const ROW = 16;

/** Bytes as every hex dump shows them: `0000  66 6f 6f ff  foo.` */
function hexLines(bytes: Uint8Array): Line[] {
  return Array.from({ length: Math.ceil(bytes.length / ROW) }, (_, row) => {
    const part = bytes.subarray(row * ROW, (row + 1) * ROW);
    const hex = Array.from(part, byte => byte.toString(16).padStart(2, '0')).join(' ');
    const offset = (row * ROW).toString(16).padStart(4, '0');
    return [say(`${offset}  `, 'gutter'), say(hex.padEnd(ROW * 3)), say(` ${printable(part)}`, 'dim')];
  });
}

function printable(bytes: Uint8Array): string {
  return Array.from(bytes, byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
}

/** Of one message: the whole of it is in the wire's own view. */
const MOST = { lines: 40, characters: 16_000, bytes: 256 };
/** So many bytes are looked at, that no half of a secret is left at the end of what is shown. */
const LOOKED_AT = 4_096;

/** The beginning of a body as it was on the wire, safe to print: as text where it is UTF-8, else in hex. Secrets out. */
export function rawLines(body: Content, redactor: Redactor): readonly Line[] {
  if (body.size === 0) return [];
  const text = beginningText(body, redactor);
  return text === null ? hexOf(body, redactor) : textOf(text, body);
}

function textOf(text: string, { size }: Content): readonly Line[] {
  const { lines, total } = textLines(text.slice(0, MOST.characters), MOST.lines);
  const isAll = total === lines.length && text.length <= MOST.characters;
  return isAll ? lines : [...lines, restLine(size)];
}

function hexOf({ bytes, size }: Content, redactor: Redactor): readonly Line[] {
  const text = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('latin1');
  const clean = Buffer.from(redactor.text(withoutPowerInText(text)), 'latin1');
  const lines = hexLines(clean.subarray(0, MOST.bytes));
  return size <= MOST.bytes ? lines : [...lines, restLine(size)];
}

function restLine(size: number): Line {
  return [say(`… of ${bytesText(size)} in all`, 'dim')];
}

/** An event of a call, and the steps that it brought to an end. */
export interface ToldEvent {
  readonly event: Event;
  readonly steps: readonly Step[];
}

/** Cells of the margin. */
const MARGIN = 8;
const INDENT = say(' '.repeat(MARGIN + 3), 'gutter');
const BAR = say('│ ', 'gutter');

/** What happened, so long after the call began, and below it what that means. @param begunAt ms since the start */
export function toldEventLines({ event, steps }: ToldEvent, begunAt: number, redactor: Redactor): Line[] {
  const offset = formatDuration(Math.max(0, event.at - begunAt)).padStart(MARGIN);
  return [
    [say(`${offset} `, 'gutter'), ...eventWords(event, redactor)],
    ...steps.flatMap(stepLines).map(lineBelow),
  ];
}

/** The message of an event as it was on the wire; nothing where it has none. */
export function toldBytes({ event }: ToldEvent, redactor: Redactor): Line[] {
  if (!('body' in event) || !event.body) return [];
  return rawLines(event.body, redactor).map(line => lineBelow([BAR, ...line]));
}

/** Stands below an event. */
export function lineBelow(line: Line): Line {
  return [INDENT, ...line];
}

/** A request, and what became of it; null as long as nobody knows. */
export interface Leg {
  readonly request: RequestEvent;
  readonly end: Extract<Event, { kind: 'response' | 'broken' }> | null;
}

/** Characters of one line of a head. */
const HEAD_LINES_MOST = 8_000;

/** The head of a request as curl shows it; secrets out. */
export function requestHead(request: RequestEvent, redactor: Redactor): readonly Line[] {
  const about = [request.purpose, ...(request.hop === undefined ? [] : [request.hop])].join(', ');
  return headLines('> ', request, redactor, say(`  ${about}`, 'dim'));
}

/** That of its answer, or why there is none. */
export function endHead({ request, end }: Leg, redactor: Redactor): readonly Line[] {
  if (end === null) return [[say('… ', 'running'), say('not answered yet', 'dim')]];
  const took = say(`  after ${formatDuration(Math.max(0, end.at - request.at))}`, 'dim');
  if (end.kind === 'response') return headLines('< ', end, redactor, took);
  return [[say('* ', 'bad'), ...clipped(breakText(end), 'bad'), took]];
}

function headLines(
  sign: string,
  event: RequestEvent | ResponseEvent,
  redactor: Redactor,
  aside: Line[number],
): readonly Line[] {
  const [first, ...fields] = headText(event, redactor);
  return [
    [say(sign, 'gutter'), ...clipped(first, 'title', HEAD_LINES_MOST), aside],
    ...fields.map((field): Line => [say(sign, 'gutter'), ...clipped(field, 'plain', HEAD_LINES_MOST)]),
  ];
}

/** How an exchange stands, in a few words. */
interface Standing {
  readonly mark: Span;
  readonly line: Line;
  /** Its clock goes on: what it says depends on the time. */
  readonly isRunning: boolean;
}

/**
 * @param begunAt, now ms since the start
 */
function standingOf(exchange: Exchange, begunAt: number, now: number): Standing {
  const { settled } = exchange;
  if (!settled) return pendingStanding(exchange, begunAt, now);
  const isOpen = isSubscribed(exchange);
  const line = [...endLine(exchange, settled, begunAt), ...eventCount(exchange)];
  return { mark: isOpen ? say('…', 'running') : endMark(exchange), line, isRunning: false };
}

function pendingStanding(exchange: Exchange, begunAt: number, now: number): Standing {
  const since = runningClock(now - begunAt);
  const asked = askedWords(exchange);
  if (asked) return { mark: say('?', 'warn'), line: [say(asked, 'warn'), since], isRunning: true };
  return { mark: say('…', 'running'), line: [...wayLine(exchange), since], isRunning: true };
}

function askedWords({ waitingFor }: Exchange): string | null {
  if (waitingFor === null) return null;
  return waitingFor.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
}

/** How far its dispatch is. */
function wayLine(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  if (last.endedAt === undefined) return [say('sent', 'running')];
  return [say('not acknowledged: ', 'warn'), ...clipped(last.broken?.code ?? String(last.status), 'warn')];
}

function endLine(exchange: Exchange, { at }: Settlement, begunAt: number): Line {
  const outcome = outcomeOnce(exchange);
  const words = outcome ? outcomeWords(outcome) : [];
  return [...words, say(` after ${formatDuration(Math.max(0, at - begunAt))}`, 'dim')];
}

function endMark(exchange: Exchange): Span {
  return outcomeOnce(exchange)?.type === 'success' ? say('✓', 'good') : say('✗', 'bad');
}

/** Of its subscription: `, 12 events so far`, or how it came to its end where the tool said no last one. */
export function eventCount({ subscription }: Pick<Exchange, 'subscription'>): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${events} event${events === 1 ? '' : 's'}`;
  if (!ended) return [say(`${count} so far`, 'running')];
  return [say(count, 'dim'), ...(ended.by === 'final' ? [] : [say(`, ${GIVEN_UP[ended.by]}`, 'warn')])];
}

const GIVEN_UP = { cancel: 'canceled', close: 'closed' } as const;

/** The text that it is read from may be large. */
const outcomeOnce = onceEach(outcomeOf);

/** One exchange in a list, cell by cell. */
export interface ExchangeRow {
  readonly mark: Span;
  readonly cells: Readonly<Record<ExchangeColumn | 'state', Line>>;
  readonly isRunning: boolean;
}

export type ExchangeColumn = 'time' | 'operation' | 'server' | 'id' | 'thread' | 'broken';

/** What its events alone do not tell. */
interface RowNotes {
  /** That the call was made by, where there are several. */
  readonly server?: string | undefined;
  /** Requirements that it broke, each a MUST. */
  readonly musts?: number;
}

/**
 * @param now ms since the start
 * @param book that the exchange is in
 */
export function exchangeRow(
  exchange: Exchange,
  now: number,
  book: Book,
  { server = '', musts = 0 }: RowNotes = {},
): ExchangeRow {
  const { operation, id, group_id } = exchange.invocation;
  const begunAt = begunAtOf(exchange, book);
  const { mark, line, isRunning } = standingOf(exchange, begunAt, now);
  return {
    mark,
    isRunning,
    cells: {
      time: [say(elapsed(begunAt).padStart(7), 'dim')],
      operation: clipped(operation),
      server: clipped(server, 'dim'),
      id: clipped(id, 'dim'),
      thread: clipped(group_id, 'dim'),
      broken: musts === 0 ? [] : [say(`⚠ ${musts} MUST`, 'bad')],
      state: line,
    },
  };
}

/** When its first event happened: one that is expected, or denied, was never sent. */
function begunAtOf({ key, attempts }: Exchange, book: Book): number {
  return attempts[0]?.sentAt ?? book.of(key)[0]?.at ?? 0;
}
