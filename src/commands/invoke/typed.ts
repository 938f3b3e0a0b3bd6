import { isRecord } from '../../text/is-record.js';
import { parseJson } from '../../text/json.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * A word as the type that the operation's `inputSchema` wants there; the string itself where the schema says nothing,
 * or where the word does not fit (validation then says so, with path and rule).
 */
export function typed(key: string, text: string, schema: Schema | null): unknown {
  for (const type of typesOf(propertySchema(key, schema), schema)) {
    const value = READERS[type]?.(text);
    if (value !== undefined) return value;
  }
  return text;
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  string: text => text,
  boolean: text => (text === 'true' ? true : text === 'false' ? false : undefined),
  integer: numeric,
  number: numeric,
  null: text => (text === 'null' ? null : undefined),
  array: text => jsonWhere(text, Array.isArray),
  object: text =>
    jsonWhere(text, value => typeof value === 'object' && value !== null && !Array.isArray(value)),
};

/** Narrow types first: where several are allowed, `42` is a number before it is a string. */
const ORDER = ['null', 'boolean', 'integer', 'number', 'array', 'object', 'string'];

function numeric(text: string): number | undefined {
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

function jsonWhere(text: string, fits: (value: unknown) => boolean): unknown {
  const reading = parseJson(text);
  return reading.ok && fits(reading.value) ? reading.value : undefined;
}

function propertySchema(key: string, schema: Schema | null): unknown {
  const properties = schema?.['properties'];
  return isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/**
 * The types a property may have: its `type`, the types of its `enum` or `const`, or those of what it refers to or is made of.
 * What was `seen` is not walked again: references may go round in circles.
 */
function typesOf(property: unknown, root: Schema | null, seen = new Set<unknown>()): string[] {
  if (!isRecord(property) || seen.has(property)) return [];
  seen.add(property);
  const own = [property['type']].flat().filter(type => typeof type === 'string');
  const values = [property['enum'], 'const' in property ? [property['const']] : []].flat().filter(isGiven);
  const parts = [
    property['anyOf'],
    property['oneOf'],
    property['allOf'],
    referred(property['$ref'], root),
  ].flat();
  const theirs = parts.flatMap(part => typesOf(part, root, seen));
  const found = new Set([...own, ...(own.length === 0 ? values.map(typeName) : []), ...theirs]);
  return ORDER.filter(type => found.has(type));
}

/** Only references within the document, as generators of schemas write them; nothing is fetched. */
function referred(ref: unknown, root: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  const keys = ref
    .slice(2)
    .split('/')
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}

const isGiven = (value: unknown) => value !== undefined;

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
