import { valueChecker } from './check-value.js';
import { boundsOf, numberIn } from './example/numbers.js';
import { listOf, type Room, recordOf, resolved, roomFor, type Schema } from './example/resolved.js';
import { type Type, typeOf } from './example/type-of.js';

/** Arguments that break a schema, and how. */
export interface BrokenValue {
  /** One clause: `path is missing`. */
  readonly how: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type Values = Readonly<Record<string, unknown>>;

/** Longer than a schema's `maxLength` only where that is short. */
const MOST_LENGTH = 10_000;

/** Values that are tried for one kind. */
const MOST_TRIED = 50;

/**
 * Values that break an object schema, each in another way: something missing, of a wrong type, outside of what is allowed, or too much.
 * One of each kind comes before a second one of any. A validator has said of each that it is broken. Never throws.
 * @param valid what is then broken
 * @param isOver whether no more time is left: a schema may be costly to validate against (threats, row 22)
 */
export async function brokenValues(
  schema: Schema,
  valid: Values,
  most: number,
  isOver = () => false,
): Promise<readonly BrokenValue[]> {
  const check = await valueChecker(schema);
  const room = roomFor();
  const whole = resolved(schema, schema, room);
  const kinds = [missing, mistyped, outside, surplus].map(breaking => {
    const found: BrokenValue[] = [];
    let tried = 0;
    for (const each of breaking(whole, valid, { root: schema, room })) {
      if (check(each.value).kind === 'invalid') found.push(each);
      if (found.length >= most || ++tried >= MOST_TRIED || isOver()) break;
    }
    return found;
  });
  return inTurns(kinds).slice(0, most);
}

/** Where a `$ref` points into, and how many steps may be taken. */
interface Setting {
  readonly root: Schema;
  readonly room: Room;
}

function inTurns<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) =>
    lists.flatMap(list => list.slice(index, index + 1)),
  ).flat();
}

function* missing({ required }: Schema, valid: Values): Generator<BrokenValue> {
  for (const name of listOf(required))
    if (typeof name === 'string') yield { how: `${name} is missing`, value: without(valid, name) };
}

function without(values: Values, name: string): Values {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
}

function* mistyped(schema: Schema, valid: Values, setting: Setting): Generator<BrokenValue> {
  for (const [name, part] of partsOf(schema, setting)) {
    const type = typeOf(part);
    yield { how: `${name} is no ${type}`, value: withValue(valid, name, OTHER_TYPE[type]) };
  }
}

const OTHER_TYPE: Readonly<Record<Type, unknown>> = {
  object: 'no object',
  array: 'no array',
  string: 42,
  integer: 'no number',
  number: 'no number',
  boolean: 'no boolean',
  null: 'not null',
};

function* outside(schema: Schema, valid: Values, setting: Setting): Generator<BrokenValue> {
  for (const [name, part] of partsOf(schema, setting))
    for (const value of beyond(part))
      yield { how: `${name} is outside of what is allowed`, value: withValue(valid, name, value) };
}

/** Values just beyond what a part of a schema allows. */
function beyond(part: Schema): readonly unknown[] {
  const { least, most } = boundsOf(part, 1);
  const shortest = numberIn(part, 'minLength') ?? 0;
  const longest = numberIn(part, 'maxLength') ?? MOST_LENGTH;
  return [
    ...('enum' in part || 'const' in part ? ['none of the values allowed here'] : []),
    ...(Number.isFinite(least) ? [least - 1] : []),
    ...(Number.isFinite(most) ? [most + 1] : []),
    ...(shortest > 0 ? [''] : []),
    ...(longest < MOST_LENGTH ? ['x'.repeat(longest + 1)] : []),
  ];
}

function surplus(_: Schema, valid: Values): readonly BrokenValue[] {
  const name = 'not_in_the_schema';
  return [{ how: `${name} is not allowed`, value: withValue(valid, name, true) }];
}

function* partsOf(schema: Schema, { root, room }: Setting): Generator<readonly [name: string, part: Schema]> {
  for (const [name, part] of Object.entries(recordOf(schema['properties']))) {
    if (room.left <= 0) return;
    yield [name, resolved(part, root, room)];
  }
}

function withValue(values: Values, name: string, value: unknown): Values {
  return Object.fromEntries([...Object.entries(values), [name, value]]);
}
