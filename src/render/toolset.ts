import type { Tool, Toolset } from '../protocol/toolset.js';
import { displayLine } from '../util/display-script/display-line.js';
import { formatDuration } from '../util/format-duration.js';
import { isRecord } from '../util/json-diagnosis.js';
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
