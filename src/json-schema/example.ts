import { isRecord, listOf, recordOf, valueAt } from '../util/values.js';
import { weightOf } from '../util/weight.js';
import { type ValueChecker, valueChecker } from './validator.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Enough for an example of any realistic schema. */
const MAX_STEPS = 20_000;

/** Maximum depth of references and parts, and of an example; ends recursive `$ref`s. */
const MAX_DEPTH = 12;

const MAX_ITEMS = 100;

const MAX_LENGTH = 10_000;

/** Maximum number of values of one kind that are tried. */
const MAX_TRIED = 50;

/** `enum` values copied or compared per step. */
const VALUES_PER_STEP = 100;

function numberIn(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' ? value : undefined;
}

function sizeOf(schema: Schema): number {
  return Object.keys(recordOf(schema['properties'])).length + listOf(schema['required']).length;
}

/** Merges the parts of a foreign schema in a bounded number of steps (threats, row 22). */
export class SchemaResolver {
  /**
   * @param root the document that a `$ref` points into; a remote one is never fetched (threats, row 23)
   * @param left the remaining steps; when they are used up, missing parts are empty
   * @param maxParts maximum number of parts of one schema
   */
  constructor(
    private readonly root: Schema,
    public left = MAX_STEPS,
    private readonly maxParts = Number.POSITIVE_INFINITY,
  ) {}

  /** Merges a schema with the target of its local `$ref` and all of `allOf`. @param picksFirst merges the first of `anyOf` and `oneOf` too */
  resolve(schema: unknown, picksFirst = false, depth = 0, parts = { left: this.maxParts }): Schema {
    if (!isRecord(schema) || depth > MAX_DEPTH || this.left <= 0 || parts.left-- <= 0) return {};
    const { $ref, allOf, ...own } = schema;
    const values = listOf(schema['enum']).length;
    this.left -= 1 + Object.keys(own).length + sizeOf(own) + Math.floor(values / VALUES_PER_STEP);
    const picked = picksFirst ? [listOf(own['anyOf'])[0], listOf(own['oneOf'])[0]] : [];
    let whole: Schema = own;
    for (const part of [this.#target($ref), ...listOf(allOf), ...picked]) {
      if (this.left <= 0) break;
      if (isRecord(part)) whole = this.merge(whole, this.resolve(part, picksFirst, depth + 1, parts));
    }
    return whole;
  }

  /** Merges two schemas: the first one wins, and the properties and requirements of both are kept. */
  merge(one: Schema, other: Schema): Schema {
    this.left -= sizeOf(one) + sizeOf(other);
    const properties = { ...recordOf(other['properties']), ...recordOf(one['properties']) };
    const required = [...new Set([...listOf(one['required']), ...listOf(other['required'])])];
    return {
      ...other,
      ...one,
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
    };
  }

  #target(ref: unknown): unknown {
    if (typeof ref !== 'string' || !/^#(?:\/|$)/.test(ref)) return undefined;
    const steps = ref.slice(1).split('/').slice(1);
    return valueAt(this.root, ...steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~')));
  }
}

const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const;

type Type = (typeof TYPES)[number];

/** The type that a keyword implies. */
const IMPLIED = new Map<string, Type>([
  ['properties', 'object'],
  ['required', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['minItems', 'array'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['multipleOf', 'number'],
]);

/** The first type that a schema has or implies; default: string. */
function typeOf(schema: Schema): Type {
  const named = [schema['type'], ...listOf(schema['type'])];
  const type = TYPES.find(each => each === named.find(name => TYPES.some(known => known === name)));
  const [, implied] = [...IMPLIED].find(([keyword]) => keyword in schema) ?? [];
  return type ?? implied ?? 'string';
}

/** The bounds of a number; an exclusive bound is moved by one step. */
function boundsOf(schema: Schema, step: number): { readonly min: number; readonly max: number } {
  const off = step > 0 ? step : 0.5;
  const above = numberIn(schema, 'exclusiveMinimum') ?? Number.NEGATIVE_INFINITY;
  const below = numberIn(schema, 'exclusiveMaximum') ?? Number.POSITIVE_INFINITY;
  return {
    min: Math.max(numberIn(schema, 'minimum') ?? Number.NEGATIVE_INFINITY, above + off),
    max: Math.min(numberIn(schema, 'maximum') ?? Number.POSITIVE_INFINITY, below - off),
  };
}

/** The number nearest to 1 that is within the bounds, if there is one. */
function exampleNumber(schema: Schema, isInteger: boolean): number {
  const step = numberIn(schema, 'multipleOf') ?? (isInteger ? 1 : 0);
  const { min, max } = boundsOf(schema, step);
  const wanted = Math.min(Math.max(1, min), max);
  if (step <= 0) return wanted;
  const above = Math.ceil(wanted / step) * step;
  return above <= max ? above : Math.floor(max / step) * step;
}

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

function exampleString(schema: Schema, word: string): string {
  const text = BY_FORMAT.get(schema['format']) ?? word;
  const min = Math.min(numberIn(schema, 'minLength') ?? 0, MAX_LENGTH);
  const max = numberIn(schema, 'maxLength') ?? MAX_LENGTH;
  return text.padEnd(min, text || 'x').slice(0, max);
}

/**
 * A small value for a schema; it may be invalid, so validate it. Pure and bounded.
 * @param word for strings without a format
 * @param resolver of the schema; when its steps are used up, missing parts are null
 */
export function exampleOf(schema: Schema, word = 'example', resolver = new SchemaResolver(schema)): unknown {
  const make = (part: unknown, depth: number): unknown => {
    resolver.left--;
    if (depth > MAX_DEPTH || resolver.left <= 0) return null;
    const whole = resolver.resolve(part, true);
    const { const: fixed, default: preset, examples, enum: allowed } = whole;
    const given = [fixed, preset, listOf(examples)[0], listOf(allowed)[0]].find(each => each !== undefined);
    const value = given === undefined ? makeOf(whole, depth + 1) : given;
    const isPaid = given === undefined && typeof value !== 'string'; // its parts were counted separately
    if (!isPaid) resolver.left -= weightOf(value, resolver.left) - 1;
    return resolver.left < 0 ? null : value;
  };
  const makeOf = (whole: Schema, depth: number): unknown => {
    const left = Math.max(0, resolver.left);
    switch (typeOf(whole)) {
      case 'object': {
        const properties = recordOf(whole['properties']);
        const names = listOf(whole['required']).filter(name => typeof name === 'string'); // calls with fewer arguments do less
        return Object.fromEntries(
          names.slice(0, left).map(name => [name, make(valueAt(properties, name), depth)]),
        );
      }
      case 'array': {
        const first = listOf(whole['prefixItems']);
        const length = Math.min(numberIn(whole, 'minItems') ?? 0, MAX_ITEMS, left);
        const rest = recordOf(whole['items']);
        return Array.from({ length }, (_, index) => make(first[index] ?? rest, depth));
      }
      case 'string':
        return exampleString(whole, word);
      case 'integer':
        return exampleNumber(whole, true);
      case 'number':
        return exampleNumber(whole, false);
      case 'boolean':
        return false;
      case 'null':
        return null;
    }
  };
  return make(schema, 0);
}

/** Typical strings to try for a `pattern`, since no string can be made from one. */
const WORDS = [
  ...['example', 'a', '1', 'A', 'abc', 'ABC', 'A1', 'a1', 'example-1', '10', '1.0.0'],
  ...['2025-01-01', '12:00', '/tmp/example', 'example.txt', 'https://example.com/'],
  ...['someone@example.com', '+10000000000', '00000000-0000-4000-8000-000000000000'],
  ...['#000000', '0123456789abcdef'],
];

type ExampleArguments =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: string };

type Values = Readonly<Record<string, unknown>>;

const WRONG_VALUES: Readonly<Record<Type, unknown>> = {
  object: 'not an object',
  array: 'not an array',
  string: 42,
  integer: 'not a number',
  number: 'not a number',
  boolean: 'not a boolean',
  null: 'not null',
};

/** Makes arguments for an `inputSchema`. Never throws. */
export class ArgumentMaker {
  private constructor(
    private readonly schema: Schema,
    private readonly check: ValueChecker,
    private readonly isOver: () => boolean,
  ) {}

  /** @param isOver whether the time is over: validating against a schema may be costly (threats, row 22) */
  static async for(schema: Schema, isOver = () => false): Promise<ArgumentMaker> {
    return new ArgumentMaker(schema, await valueChecker(schema), isOver);
  }

  /** Valid arguments, or the reason why none could be made. */
  valid(): ExampleArguments {
    let reason = 'its inputSchema describes no object';
    for (const word of WORDS) {
      const whole = { type: 'object', ...this.schema };
      const resolver = new SchemaResolver(whole);
      const value = exampleOf(whole, word, resolver);
      if (resolver.left <= 0) return { ok: false, reason: 'it demands too many values' };
      const checked = this.check(value);
      if (checked.kind === 'unusable') return { ok: false, reason: checked.reason };
      if (checked.kind === 'valid' && isRecord(value)) return { ok: true, arguments: value };
      if (checked.kind === 'invalid')
        reason = checked.faults.map(({ path, message }) => `${path}: ${message}`).join('; ');
      if (this.isOver()) break; // not before the first attempt: loading the validator may have taken the time
    }
    return { ok: false, reason };
  }

  /** Valid arguments with this text in each argument that may hold it; null if none may. */
  withText(valid: Values, text: string): Values | null {
    let values = valid;
    for (const { name, isList } of textArguments(this.schema)) {
      if (this.isOver()) break;
      const changed = Object.fromEntries([...Object.entries(values), [name, isList ? [text] : text]]);
      if (this.check(changed).kind === 'valid') values = changed;
    }
    return values === valid ? null : values;
  }

  /**
   * Invalid arguments, each with a different error: missing, of a wrong type, out of bounds, or unknown. One of each kind comes before a
   * second one of any kind.
   * @param valid the valid arguments to change
   */
  invalid(valid: Values, most: number): readonly Values[] {
    const kinds = violations(this.schema, valid).map(kind => {
      const found: Values[] = [];
      let tried = 0;
      for (const values of kind) {
        if (this.check(values).kind === 'invalid') found.push(values);
        if (found.length >= most || ++tried >= MAX_TRIED || this.isOver()) break;
      }
      return found;
    });
    const longest = Math.max(...kinds.map(({ length }) => length));
    const inTurns = Array.from({ length: longest }, (_, index) =>
      kinds.flatMap(kind => kind.slice(index, index + 1)),
    );
    return inTurns.flat().slice(0, most);
  }
}

/** An argument that may hold any text, or a list of texts. */
interface TextArgument {
  readonly name: string;
  readonly isList: boolean;
}

/** Leaves out the arguments of a `format`. */
function textArguments(schema: Schema): readonly TextArgument[] {
  const resolver = new SchemaResolver(schema);
  const isText = (part: Schema) => [part['type']].flat().includes('string') && part['format'] === undefined;
  const { properties } = resolver.resolve(schema, true);
  return Object.entries(recordOf(properties)).flatMap(([name, property]) => {
    const part = resolver.resolve(property, true);
    const isList = typeOf(part) === 'array' && isText(resolver.resolve(part['items'], true));
    return isList || isText(part) ? [{ name, isList }] : [];
  });
}

/** Arguments that probably violate a schema, by kind. */
function violations(
  schema: Schema,
  valid: Values,
  resolver = new SchemaResolver(schema),
): readonly Iterable<Values>[] {
  const { required, properties } = resolver.resolve(schema, true);
  const changed = (name: string, value: unknown) =>
    Object.fromEntries([...Object.entries(valid), [name, value]]);
  function* parts(): Generator<readonly [name: string, part: Schema]> {
    for (const [name, part] of Object.entries(recordOf(properties))) {
      if (resolver.left <= 0) return;
      yield [name, resolver.resolve(part, true)];
    }
  }
  function* missing() {
    for (const name of listOf(required))
      yield Object.fromEntries(Object.entries(valid).filter(([key]) => key !== name));
  }
  function* mistyped() {
    for (const [name, part] of parts()) yield changed(name, WRONG_VALUES[typeOf(part)]);
  }
  function* outOfBounds() {
    for (const [name, part] of parts()) for (const value of beyond(part)) yield changed(name, value);
  }
  function* nested() {
    for (const [name, part] of parts())
      for (const value of within(part, valid[name], resolver)) yield changed(name, value);
  }
  return [missing(), mistyped(), outOfBounds(), nested(), [changed('not_in_the_schema', true)]];
}

/** Objects and lists with something wrong in them. */
function* within(part: Schema, value: unknown, resolver: SchemaResolver): Generator<unknown> {
  if (isRecord(value)) for (const kind of violations(part, value, resolver)) yield* kind;
  if (Array.isArray(value)) yield [...value, WRONG_VALUES[typeOf(resolver.resolve(part['items'], true))]];
}

/** Values just beyond what a schema allows. */
function beyond(schema: Schema): readonly unknown[] {
  const { min, max } = boundsOf(schema, 1);
  const longest = numberIn(schema, 'maxLength') ?? MAX_LENGTH;
  return [
    ...('enum' in schema || 'const' in schema ? ['a value that is not allowed'] : []),
    ...(Number.isFinite(min) ? [min - 1] : []),
    ...(Number.isFinite(max) ? [max + 1] : []),
    ...((numberIn(schema, 'minLength') ?? 0) > 0 ? [''] : []),
    ...(longest < MAX_LENGTH ? ['x'.repeat(longest + 1)] : []),
  ];
}
