import type { Tool, Toolset } from '../protocol/toolset.js';
import { displayLine } from '../text/display-script/display-line.js';
import { isRecord } from '../text/is-record.js';
import type { Line } from './line.js';
import { quote, say } from './spans.js';
import { clipped } from './tool-calls/clip.js';

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
