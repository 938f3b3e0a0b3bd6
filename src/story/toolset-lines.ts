import type { Tool, Toolset } from '../protocol/toolset.js';
import { isRecord } from '../text/is-record.js';
import type { Line } from './line.js';
import { quote, say } from './spans.js';

/** A toolset as a list for people: each operation with what it takes and what it says of itself. */
export function toolsetLines({ name, description = '', endpoint, tools }: Toolset): Line[] {
  return [
    [...quote(name, 'title'), say(description && '  '), ...quote(description)],
    [say('endpoint ', 'dim'), ...quote(endpoint)],
    ...tools.flatMap(tool => [[], ...toolLines(tool)]),
  ];
}

/** One operation: its description, what it takes, what it says of itself. */
export function toolLines({ name, description, inputSchema, annotations = {} }: Tool): Line[] {
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
    ...propertyLines(inputSchema),
  ];
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
