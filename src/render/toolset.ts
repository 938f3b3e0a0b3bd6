import type { Tool, Toolset } from '../protocol/toolset.js';
import { isRecord } from '../util/values.js';
import { clipped, type Line, line, quote, say, took } from './line.js';

/** A toolset as a list for people. */
export function toolsetLines({ name, description = '', endpoint, tools }: Toolset): Line[] {
  return [
    line`${quote(name, 'title')}${description && '  '}${quote(description)}`,
    line`${say('endpoint ', 'dim')}${quote(endpoint)}`,
    ...tools.flatMap(tool => [[], ...toolLines(tool)]),
  ];
}

/** An operation: its annotations, its description, its display script as text, its arguments. */
export function toolLines({ name, description, inputSchema, annotations = {}, displayScript }: Tool): Line[] {
  const notes = Object.entries(annotations).flatMap(([key, value]) => {
    if (value === false || value === undefined) return [];
    return value === true ? [key] : [`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  const tone = annotations.destructive ? 'bad' : 'dim';
  const { properties, required } = inputSchema;
  const args = isRecord(properties) ? Object.entries(properties) : [];
  return [
    line`${quote(name, 'title')}${notes.length > 0 && line`  ${quote(notes.join(', '), tone)}`}`,
    line`  ${quote(description)}`,
    ...(displayScript === undefined ? [] : [[say('  display script  ', 'dim'), ...clipped(displayScript)]]),
    ...argumentLines(args, new Set(Array.isArray(required) ? required : [])),
  ];
}

type Properties = readonly (readonly [name: string, schema: unknown])[];

/** Limits of a schema: columns of a name and values of an `enum` (threats, row 22). */
const MAX = { columns: 60, values: 50 };

function argumentLines(properties: Properties, required: ReadonlySet<unknown>): Line[] {
  const widest = properties.reduce((max, [key]) => Math.max(max, key.length), 0);
  const width = Math.min(MAX.columns, widest);
  return properties.map(([key, schema]) => {
    const about = isRecord(schema) && typeof schema['description'] === 'string' && schema['description'];
    const isRequired = say(required.has(key) ? '  required  ' : '  optional  ', 'dim');
    return line`    ${clipped(key.padEnd(width))}${isRequired}${quote(typeText(schema))}${clipped(limitsText(schema))}${about !== false && line`  ${quote(about, 'dim')}`}`;
  });
}

function typeText(schema: unknown): string {
  if (!isRecord(schema)) return 'any';
  const { enum: values, type = 'any' } = schema;
  if (Array.isArray(values)) {
    const more = values.length > MAX.values ? [`… ${values.length - MAX.values} more`] : [];
    return [...values.slice(0, MAX.values).map(value => JSON.stringify(value)), ...more].join(' | ');
  }
  return [type].flat().join(' | ');
}

const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'default'];

/** The common limits of a value, and its default: `, minimum 1, default 3`. */
function limitsText(schema: unknown): string {
  if (!isRecord(schema)) return '';
  const limits = LIMITS.filter(name => schema[name] !== undefined);
  return limits.map(name => `, ${name} ${JSON.stringify(schema[name])}`).join('');
}

export interface SentNotice {
  readonly url: string;
  readonly message: object;
  /** Null without an answer; then `said` is the reason. */
  readonly status: number | null;
  /** The body of the answer. */
  readonly said: string;
  readonly ms: number;
}

/** Describes a notice on one line: the request, the answer, and the time. */
export function noticeLine({ url, message, status, said, ms }: SentNotice): Line {
  const mark = status === 200 ? say('✓', 'good') : say('✗', 'bad');
  const answer =
    status === null ? 'not answered' : `answered ${status}${status === 200 ? '' : ' instead of 200'}`;
  const sent = quote(JSON.stringify(message), 'dim');
  return line`${mark} ${quote(url, 'title')} ${sent} ${answer}${took(ms)}${said !== '' && line`: ${quote(said)}`}`;
}
