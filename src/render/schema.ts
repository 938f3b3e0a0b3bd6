import { isRecord, listOf, recordOf, valueAt } from '../util/values.js';
import { clipped, type Line, line, quote, say } from './line.js';

type Schema = Readonly<Record<string, unknown>>;

/** Limits of a foreign schema (threats, row 22): columns of a name, values of an `enum`, alternatives, levels, lines, and parts. */
const MAX = { columns: 60, values: 50, alternatives: 8, depth: 12, lines: 500, steps: 5_000 };

/** Words that follow the type: `, minimum 1, default 3`. */
const LIMITS = [
  'format',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'default',
];

/** The type of a value in a few words: `array of object`, `string or null`, `one of Card, Cash`, or the name of a `$ref`. */
function typeText(schema: unknown, depth = 0): string {
  if (!isRecord(schema) || depth > MAX.depth) return 'any';
  const { enum: values, type, items, anyOf, oneOf, allOf, $ref } = schema;
  if (Array.isArray(values)) return firstOf(values, MAX.values, value => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema['const']) ?? 'any';
  if (typeof $ref === 'string') return nameOfRef($ref);
  const types = [type].flat().filter(each => typeof each === 'string');
  if (types.length > 0)
    return types.map(each => (each === 'array' ? arrayText(items, depth) : each)).join(' or ');
  for (const parts of [anyOf, oneOf])
    if (Array.isArray(parts)) return alternativesText(parts, depth) || 'any';
  if (Array.isArray(allOf))
    return firstOf(allOf, MAX.alternatives, part => typeText(part, depth + 1)).join(' and ') || 'any';
  if (isRecord(schema['properties'])) return 'object';
  return items === undefined ? 'any' : arrayText(items, depth);
}

function arrayText(items: unknown, depth: number): string {
  const text = typeText(items, depth + 1);
  return text === 'any' ? 'array' : `array of ${text}`;
}

function alternativesText(parts: readonly unknown[], depth: number): string {
  const texts = [...new Set(firstOf(parts, MAX.alternatives, part => typeText(part, depth + 1)))];
  const isOptional = texts.length === 2 && texts.includes('null');
  if (isOptional) return [...texts.filter(text => text !== 'null'), 'null'].join(' or ');
  return texts.length < 2 ? texts.join('') : `one of ${texts.join(', ')}`;
}

function firstOf<T>(all: readonly T[], max: number, text: (value: T) => string): string[] {
  const more = all.length > max ? [`… ${all.length - max} more`] : [];
  return [...all.slice(0, max).map(text), ...more];
}

/** `#/$defs/Address` is `Address`. */
function nameOfRef(ref: string): string {
  const last = ref.split('/').at(-1) ?? '';
  return last === '' || last === '#' ? 'any' : last.replaceAll('~1', '/').replaceAll('~0', '~');
}

function limitsText(schema: unknown): string {
  if (!isRecord(schema)) return '';
  const limits = LIMITS.filter(name => schema[name] !== undefined);
  return limits.map(name => `, ${name} ${JSON.stringify(schema[name])}`).join('');
}

/** A line for each property of an object. */
export function propertyLines(schema: Schema): Line[] {
  return ownLines(schema, '    ').map(({ line: own }) => own);
}

/** As {@link propertyLines}, with those of nested objects, arrays, alternatives and references. */
export function nestedPropertyLines(schema: Schema): Line[] {
  const nested = new NestedLines(schema);
  nested.addParts(schema, '    ', new Set());
  return nested.lines;
}

/** The parts that contain a part; one that contains itself ends there. */
type Containers = ReadonlySet<unknown>;

class NestedLines {
  readonly lines: Line[] = [];
  #steps = 0;

  constructor(private readonly root: Schema) {}

  /** Adds lines for the properties that a part may have, with their own parts. */
  addParts(part: unknown, indent: string, containers: Containers): void {
    if (!isRecord(part) || containers.size > MAX.depth || containers.has(part)) return;
    if (this.lines.length >= MAX.lines || ++this.#steps > MAX.steps) return;
    const inside = new Set([...containers, part]);
    const { items, anyOf, oneOf, allOf, $ref } = part;
    this.#addProperties(part, indent, inside);
    if (isRecord(items) && limitsText(items) !== '')
      this.lines.push(line`${say(indent)}each  ${quote(typeText(items))}${clipped(limitsText(items))}`);
    for (const each of [items, referred(this.root, $ref), ...listOf(allOf)])
      this.addParts(each, indent, inside);
    for (const each of [...listOf(anyOf), ...listOf(oneOf)].slice(0, MAX.alternatives))
      this.#addAlternative(each, indent, inside);
  }

  #addProperties(part: Schema, indent: string, containers: Containers): void {
    for (const { line: own, schema } of ownLines(part, indent)) {
      if (this.lines.length >= MAX.lines) return;
      this.lines.push(own);
      this.addParts(schema, `${indent}  `, containers);
    }
  }

  #addAlternative(part: unknown, indent: string, containers: Containers): void {
    const whole = isRecord(part) ? (referred(this.root, part['$ref']) ?? part) : part;
    if (!isRecord(whole) || Object.keys(recordOf(whole['properties'])).length === 0) return;
    this.lines.push(line`${say(indent)}${say('one of:', 'dim')} ${clipped(typeText(part))}`);
    this.addParts(whole, `${indent}  `, containers);
  }
}

/** The target of a reference within the document; nothing is fetched (threats, row 23). */
function referred(root: Schema, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  const steps = ref.slice(2).split('/');
  return valueAt(root, ...steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~')));
}

interface PropertyLine {
  readonly line: Line;
  readonly schema: unknown;
}

function ownLines(schema: unknown, indent: string): PropertyLine[] {
  if (!isRecord(schema)) return [];
  const properties = Object.entries(recordOf(schema['properties']));
  const required = new Set(listOf(schema['required']));
  const widest = properties.reduce((max, [key]) => Math.max(max, key.length), 0);
  const width = Math.min(MAX.columns, widest);
  return properties.map(([key, property]) => {
    const about =
      isRecord(property) && typeof property['description'] === 'string' && property['description'];
    const isRequired = say(required.has(key) ? '  required  ' : '  optional  ', 'dim');
    return {
      line: line`${say(indent)}${clipped(key.padEnd(width))}${isRequired}${quote(typeText(property))}${clipped(limitsText(property))}${about !== false && line`  ${quote(about, 'dim')}`}`,
      schema: property,
    };
  });
}
