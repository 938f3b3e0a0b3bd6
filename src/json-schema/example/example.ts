import { weightOf } from '../../text/bounded.js';
import { isRecord } from '../../text/is-record.js';
import { exampleNumber, numberIn } from './numbers.js';
import { listOf, MOST_DEPTH, type Room, recordOf, resolved, roomFor, type Schema } from './resolved.js';
import { exampleString } from './strings.js';
import { type Type, typeOf } from './type-of.js';

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
