import { weightOf } from '../util/bounded.js';
import { isRecord } from '../util/json-diagnosis.js';
import { valueAt } from '../util/redact-json.js';
import { valueChecker } from './validator.js';

export type Schema = Readonly<Record<string, unknown>>;

/** The maximum depth of an example; ends recursive `$ref`s. */
export const MOST_DEPTH = 12;

/** Steps that work on a foreign schema may still take; shared by everything that belongs to one piece of work. */
export interface Room {
  left: number;
}

/** Enough for an example of any schema that people write. */
const MOST_STEPS = 20_000;

export function roomFor(steps = MOST_STEPS): Room {
  return { left: steps };
}

/**
 * A schema with what it refers to and is composed of in one: local `$ref`, all of `allOf`, the first of `anyOf` and `oneOf`. Each
 * part costs a step, and so does each property that is copied; parts for which there is no room are left out.
 */
export function resolved(schema: unknown, root: Schema, room = roomFor(), depth = 0): Schema {
  if (!isRecord(schema)) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  room.left -= 1 + Object.keys(own).length;
  if (depth > MOST_DEPTH) return schema;
  let whole: Schema = own;
  for (const part of [target($ref, root), ...listOf(allOf), listOf(anyOf)[0], listOf(oneOf)[0]]) {
    if (!isRecord(part)) continue;
    if (room.left <= 0) break;
    const inner = resolved(part, root, room, depth + 1);
    room.left -= sizeOf(whole) + sizeOf(inner);
    whole = together(whole, inner);
  }
  return whole;
}

/** What putting two schemas together copies of one of them. */
export function sizeOf(schema: Schema): number {
  return Object.keys(recordOf(schema['properties'])).length + listOf(schema['required']).length;
}

/** The first one's word counts; what both describe is described, and what both demand is demanded. */
export function together(one: Schema, other: Schema): Schema {
  const properties = { ...recordOf(other['properties']), ...recordOf(one['properties']) };
  const required = [...new Set([...listOf(one['required']), ...listOf(other['required'])])];
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** Within the document only: a remote one is never fetched (threats, row 23). */
export function target(ref: unknown, root: Schema): unknown {
  if (typeof ref !== 'string' || !/^#(?:\/|$)/.test(ref)) return undefined;
  const steps = ref.slice(1).split('/').slice(1);
  return valueAt(root, ...steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~')));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function recordOf(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

/** The number nearest to 1 within the bounds, if there is one. */
function exampleNumber(schema: Schema, isInteger: boolean): number {
  const step = numberIn(schema, 'multipleOf') ?? (isInteger ? 1 : 0);
  const { least, most } = boundsOf(schema, step);
  const wanted = Math.min(Math.max(1, least), most);
  return step > 0 ? onGrid(wanted, step, most) : wanted;
}

/** An exclusive bound as an inclusive one, by a step that keeps off it. */
export function boundsOf(schema: Schema, step: number) {
  const off = step > 0 ? step : 0.5;
  const above = numberIn(schema, 'exclusiveMinimum');
  const below = numberIn(schema, 'exclusiveMaximum');
  return {
    least: Math.max(
      numberIn(schema, 'minimum') ?? Number.NEGATIVE_INFINITY,
      above === undefined ? Number.NEGATIVE_INFINITY : above + off,
    ),
    most: Math.min(
      numberIn(schema, 'maximum') ?? Number.POSITIVE_INFINITY,
      below === undefined ? Number.POSITIVE_INFINITY : below - off,
    ),
  };
}

function onGrid(wanted: number, step: number, most: number): number {
  const up = Math.ceil(wanted / step) * step;
  return up <= most ? up : Math.floor(most / step) * step;
}

export function numberIn(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' ? value : undefined;
}

/** Characters: a schema may demand more than anybody wants to send. */
const MOST = 10_000;

const BY_FORMAT: ReadonlyMap<unknown, string> = new Map([
  ['date-time', '2025-01-01T12:00:00Z'],
  ['date', '2025-01-01'],
  ['time', '12:00:00Z'],
  ['duration', 'PT1H'],
  ['email', 'someone@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['uri-reference', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
]);

/** @param word where no format says what to take */
function exampleString(schema: Schema, word: string): string {
  const { format, minLength, maxLength } = schema;
  const text = BY_FORMAT.get(format) ?? word;
  const least = typeof minLength === 'number' ? Math.min(minLength, MOST) : 0;
  const most = typeof maxLength === 'number' ? maxLength : MOST;
  return text.padEnd(least, text || 'x').slice(0, most);
}

const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const;
export type Type = (typeof TYPES)[number];

const TELLING: readonly (readonly [keyword: string, type: Type])[] = [
  ['properties', 'object'],
  ['required', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['minItems', 'array'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['multipleOf', 'number'],
];

/** The type that an example has: the first that is named, else what the other keywords speak of, else a string. */
export function typeOf(schema: Schema): Type {
  const named = [schema['type'], ...listOf(schema['type'])].find(isType);
  return named ?? TELLING.find(([keyword]) => keyword in schema)?.[1] ?? 'string';
}

function isType(value: unknown): value is Type {
  return TYPES.some(type => type === value);
}

/** An array of a schema that demands more items than these is not made. */
const MOST_ITEMS = 100;

interface Setting {
  readonly root: Schema;
  readonly word: string;
  readonly room: Room;
  readonly depth: number;
}

/**
 * A small value as the schema describes it; whether it is valid is for a validator to say, since not all of JSON Schema can be turned
 * round. Pure, bounded, and the same every time.
 * @param word for strings of which the schema says nothing more
 * @param root where a `$ref` points into; the schema itself unless told
 * @param room shared by several examples, where they are parts of one; where it is used up, null stands for what is missing
 */
export function exampleOf(
  schema: Schema,
  { word = 'example', root = schema, room = roomFor() } = {},
): unknown {
  return make(schema, { root, word, room, depth: 0 });
}

function make(schema: unknown, { depth, ...setting }: Setting): unknown {
  const { room, root } = setting;
  room.left--;
  if (depth > MOST_DEPTH || room.left <= 0) return null;
  const whole = resolved(schema, root, room);
  const [given] = givenIn(whole);
  const value = given === undefined ? BY_TYPE[typeOf(whole)](whole, { ...setting, depth: depth + 1 }) : given;
  const isMadeWhole = given === undefined && typeof value !== 'string'; // its parts have been paid for
  if (!isMadeWhole) room.left -= weightOf(value, room.left) - 1;
  return room.left < 0 ? null : value;
}

/** What the schema's author names is better than anything that could be made. */
function givenIn(schema: Schema): readonly unknown[] {
  return [
    schema['const'],
    schema['default'],
    listOf(schema['examples'])[0],
    listOf(schema['enum'])[0],
  ].filter(value => value !== undefined);
}

const BY_TYPE: Readonly<Record<Type, (schema: Schema, setting: Setting) => unknown>> = {
  object: makeObject,
  array: makeArray,
  string: (schema, { word }) => exampleString(schema, word),
  integer: schema => exampleNumber(schema, true),
  number: schema => exampleNumber(schema, false),
  boolean: () => false,
  null: () => null,
};

/** Only what is required: the less a call says, the less it does. */
function makeObject(schema: Schema, setting: Setting): unknown {
  const properties = recordOf(schema['properties']);
  const names = listOf(schema['required']).filter(name => typeof name === 'string');
  const partOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  const made = names.slice(0, roomIn(setting)).map(name => [name, make(partOf(name), setting)] as const);
  return Object.fromEntries(made);
}

function makeArray(schema: Schema, setting: Setting): unknown {
  const first = listOf(schema['prefixItems']);
  const length = Math.min(numberIn(schema, 'minItems') ?? 0, MOST_ITEMS, roomIn(setting));
  const rest = isRecord(schema['items']) ? schema['items'] : {};
  return Array.from({ length }, (_, index) => make(first[index] ?? rest, setting));
}

function roomIn({ room }: Setting): number {
  return Math.max(0, room.left);
}

/** A `pattern` cannot be turned round; these pass the usual ones. */
const WORDS = [
  'example',
  'a',
  '1',
  'A',
  'abc',
  'ABC',
  'A1',
  'a1',
  'example-1',
  '10',
  '1.0.0',
  '2025-01-01',
  '12:00',
  '/tmp/example',
  'example.txt',
  'https://example.com/',
  'someone@example.com',
  '+10000000000',
  '00000000-0000-4000-8000-000000000000',
  '#000000',
  '0123456789abcdef',
];

type ExampleArguments =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: string };

/**
 * Arguments that are valid against an `inputSchema`, or why none could be made. Never throws.
 * @param isOver whether no more time is left: a schema may be costly to validate against (threats, row 22)
 */
export async function exampleArguments(schema: Schema, isOver = () => false): Promise<ExampleArguments> {
  const check = await valueChecker(schema);
  let reason = 'its inputSchema describes no object';
  for (const word of WORDS) {
    if (isOver()) break;
    const room = roomFor();
    const value = exampleOf({ type: 'object', ...schema }, { word, room });
    if (room.left <= 0) return { ok: false, reason: 'it demands too many values' };
    const checked = check(value);
    if (checked.kind === 'unusable') return { ok: false, reason: checked.reason };
    if (checked.kind === 'valid' && isRecord(value)) return { ok: true, arguments: value };
    if (checked.kind === 'invalid')
      reason = checked.faults.map(fault => `${fault.path}: ${fault.message}`).join('; ');
  }
  return { ok: false, reason };
}
