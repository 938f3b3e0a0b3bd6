import type { Content } from '../events/content.js';
import type { Event, RequestEvent, ResponseEvent } from '../events/events.js';
import { shareableText, shareableUrl, withoutPowerInText } from '../events/shareable.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { displayLine } from '../util/display-script/display-line.js';
import { formatDuration } from '../util/format-duration.js';
import { decodeUtf8 } from '../util/json.js';
import { bytesText, isRecord } from '../util/json-diagnosis.js';
import { type Redactor, redactHeaders } from '../util/redact.js';
import { visible, visibleLine } from '../util/visible.js';
import { clipped, type Line, quote, say } from './line.js';

/** A toolset as a list for people: each operation with what it takes and what it says of itself. */
export function toolsetLines({ name, description = '', endpoint, tools }: Toolset): Line[] {
  return [
    [...quote(name, 'title'), say(description && '  '), ...quote(description)],
    [say('endpoint ', 'dim'), ...quote(endpoint)],
    ...tools.flatMap(tool => [[], ...toolLines(tool)]),
  ];
}

/** One operation: its description, what it takes, what it says of itself. */
export function toolLines({ name, description, inputSchema, annotations = {}, displayScript }: Tool): Line[] {
  const marks = Object.entries(annotations).filter(([, value]) => value !== false && value !== undefined);
  const said = marks
    .map(([key, value]) =>
      value === true ? key : `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join(', ');
  return [
    [
      ...quote(name, 'title'),
      ...(said ? [say('  '), ...quote(said, annotations.destructive ? 'bad' : 'dim')] : []),
    ],
    [say('  '), ...quote(description)],
    ...shownLines(displayScript, inputSchema),
    ...propertyLines(inputSchema),
  ];
}

/** The human line of a call, with the names of the arguments in place of their texts. */
function shownLines(script: string | undefined, schema: Readonly<Record<string, unknown>>): Line[] {
  if (script === undefined) return [];
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  const args = Object.fromEntries(properties.map(([name, property]) => [name, sampleOf(name, property)]));
  const line = displayLine(script, args);
  return line === null ? [] : [[say('  shown as  ', 'dim'), ...clipped(line)]];
}

function sampleOf(name: string, property: unknown): unknown {
  if (!isRecord(property)) return `<${name}>`;
  const [first] = [property['examples'], property['enum']].flatMap(each => (Array.isArray(each) ? each : []));
  const given = property['const'] ?? property['default'] ?? first;
  if (given !== undefined) return given;
  const { type } = property;
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'array') return [];
  return type === 'object' ? {} : `<${name}>`;
}

function propertyLines(schema: Readonly<Record<string, unknown>>): Line[] {
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const width = Math.max(0, ...properties.map(([key]) => key.length));
  return properties.map(([key, property]) => [
    say('    '),
    ...quote(key.padEnd(width)),
    say(required.has(key) ? '  required  ' : '  optional  ', 'dim'),
    ...quote(typeText(property)),
    ...(isRecord(property) && typeof property['description'] === 'string'
      ? [say('  '), ...quote(property['description'], 'dim')]
      : []),
  ]);
}

function typeText(property: unknown): string {
  if (!isRecord(property)) return 'any';
  if (Array.isArray(property['enum']))
    return property['enum'].map(value => JSON.stringify(value)).join(' | ');
  return [property['type'] ?? 'any'].flat().join(' | ');
}

/** A notice that went out: where to, with which body, and how it was answered. */
export interface ToldNotice {
  readonly url: string;
  readonly message: object;
  /** Null where there was no answer; `said` is then why. */
  readonly status: number | null;
  /** What the answer said. */
  readonly said: string;
  readonly ms: number;
}

/** One notice on one line, as a debugger wants it: what was sent, what came back, and when. */
export function noticeLine({ url, message, status, said, ms }: ToldNotice): Line {
  const mark = status === 200 ? say('✓ ', 'good') : say('✗ ', 'bad');
  const sent = [...quote(url, 'title'), say(' '), ...quote(JSON.stringify(message), 'dim')];
  const took = say(` after ${formatDuration(ms)}`, 'dim');
  return [mark, ...sent, say(answerOf(status)), took, ...(said === '' ? [] : [say(': '), ...quote(said)])];
}

function answerOf(status: number | null): string {
  if (status === null) return ' not answered';
  return status === 200 ? ' answered 200' : ` answered ${status} instead of 200`;
}

/** The head of a message, secrets out: its first line, then its fields. Foreign words, not made visible yet. */
export function headText(
  event: RequestEvent | ResponseEvent,
  redactor: Redactor,
): readonly [string, ...string[]] {
  const first =
    event.kind === 'request' ? `${event.method} ${shareableUrl(event, redactor)}` : String(event.status);
  const fields = Object.entries(redactHeaders(event.headers, redactor)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [first, ...fields];
}

/** Its body, secrets out; of bytes that are no text, how many they are, and nothing where there are none. */
export function bodyText(body: Content | undefined, redactor: Redactor): string | null {
  if (!body || body.size === 0) return null;
  return shareableText(body, redactor) ?? `(${bytesText(body.size)} that are not UTF-8)`;
}

/** Of a larger body only its beginning is looked at. */
const LARGE = 64 * 1024;

/** As much of a body as a person reads, secrets out; null where it is no text. What is shown of it must stay well below 64 Ki. */
export function beginningText(body: Content, redactor: Redactor): string | null {
  if (body.size <= LARGE) return shareableText(body, redactor);
  const text = decodeUtf8(body.bytes);
  return text === null ? null : redactor.text(withoutPowerInText(text.slice(0, LARGE)));
}

/** Why there is no answer. */
export function breakText({ code, phase }: Extract<Event, { kind: 'broken' }>): string {
  return `not answered: ${code} (${phase})`;
}

const MAX_BODY = 64 * 1024;

/**
 * `-v`: every message except discovery, marked as curl marks them: `>` was sent by this program, `<` was received. Without secrets, and
 * safe to print.
 */
export function verboseTeller(redactor: Redactor, write: (text: string) => unknown): (event: Event) => void {
  const isReceived = new Map<string, boolean>();
  return event => {
    if (event.kind === 'request' && event.purpose !== 'discovery') {
      isReceived.set(event.leg, event.to === 'runtime');
      write(messageText(event.to === 'runtime' ? '<' : '>', event, redactor));
    } else if (event.kind === 'response' && isReceived.has(event.leg)) {
      write(messageText(isReceived.get(event.leg) ? '>' : '<', event, redactor));
      isReceived.delete(event.leg);
    } else if (event.kind === 'broken' && isReceived.delete(event.leg)) {
      write(`* ${visibleLine(breakText(event))}\n`);
    }
  };
}

function messageText(sign: string, event: RequestEvent | ResponseEvent, redactor: Redactor): string {
  const head = headText(event, redactor).map(line => `${sign} ${visibleLine(line)}\n`);
  const body = bodyText(event.body, redactor);
  return head.join('') + (body === null ? '' : cutBody(body));
}

function cutBody(text: string): string {
  const rest = text.length > MAX_BODY ? `\n… ${text.length - MAX_BODY} more characters` : '';
  return `\n${visible(text.slice(0, MAX_BODY))}${rest}\n`;
}
