import { OutOfTime, patientlyBounded } from '../util/bounded.js';
import { type Draft, draftOf, unknownDraft } from './draft-04.js';
import {
  boundsOf,
  listOf,
  numberIn,
  type Room,
  recordOf,
  resolved,
  roomFor,
  type Schema,
  type Type,
  typeOf,
} from './example.js';
import { validate as validate2020 } from './generated/meta-2020-12.js';
import { type SchemaFault, toFaults } from './validate.js';
import { valueChecker } from './validator.js';

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
    ...('enum' in part || 'const' in part ? ['a value that is not allowed'] : []),
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

type CheckSchemaSchema = Readonly<Record<string, unknown>>;
type FaultsOf = (schema: CheckSchemaSchema) => readonly SchemaFault[];

/**
 * For each JSON Schema, every way in which it breaks the meta-schema of its draft; none where it is sound, or of an unknown draft.
 * All of them share one time limit (threats, row 22). Never throws.
 */
export async function checkSchemas(
  schemas: readonly CheckSchemaSchema[],
): Promise<readonly (readonly SchemaFault[])[]> {
  const drafts = schemas.map(draftOf);
  const checks = new Map<Draft | null, FaultsOf>([[null, withoutDraft]]);
  for (const draft of new Set(drafts)) if (draft !== null) checks.set(draft, await checkFor(draft));
  try {
    return patientlyBounded(() =>
      schemas.map((schema, index) => checks.get(drafts[index] ?? null)?.(schema) ?? []),
    );
  } catch (error) {
    const message = reasonOf(error);
    return schemas.map((_, index) => (index === 0 ? [{ path: '$', message }] : []));
  }
}

/** As {@link checkSchemas}, for one. */
export async function checkSchema(schema: CheckSchemaSchema): Promise<readonly SchemaFault[]> {
  const [faults = []] = await checkSchemas([schema]);
  return faults;
}

/** Draft 2020-12 is checked by code made at build time: building that check costs more than the rest of a call. */
async function checkFor(draft: Draft): Promise<FaultsOf> {
  if (draft === '2020-12') return schema => (validate2020(schema) ? [] : toFaults(validate2020.errors));
  const { metaValidator } = await import('./ajv-drafts.js');
  const validate = metaValidator(draft === 'draft-04' ? 'draft-06' : draft);
  const faultsIn = (schema: CheckSchemaSchema) => (validate(schema) ? [] : toFaults(validate.errors));
  if (draft !== 'draft-04') return faultsIn;
  const { draft04Faults, fromDraft04 } = await import('./draft-04.js');
  return schema => [...draft04Faults(schema), ...faultsIn(fromDraft04(schema))];
}

/** A schema of an unknown draft cannot be checked; an invalid `$schema` is an error. */
function withoutDraft(schema: CheckSchemaSchema): SchemaFault[] {
  if (typeof schema['$schema'] === 'string') return [];
  return [{ path: '$["$schema"]', message: unknownDraft(schema) }];
}

function reasonOf(error: unknown): string {
  if (error instanceof OutOfTime) return `checking the schemas ${error.message}`;
  if (error instanceof RangeError) return 'is nested too deep to be checked';
  throw error;
}
