import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import * as z from 'zod';
import facts from '../../fixtures/agent-sessions.json' with { type: 'json' };

/** The platform's documented API: its operations, and values that break its types. */

const schemaSchema = z.record(z.string(), z.unknown());

type Schema = z.infer<typeof schemaSchema>;

const operationSchema = z.strictObject({
  method: z.string(),
  path: z.string(),
  /** Types of the body; one of them. */
  body: z.array(z.string()).default([]),
  /** Bodies that are right. */
  examples: z.array(z.unknown()).default([]),
  query: z.record(z.string(), schemaSchema).default({}),
  headers: z.record(z.string(), schemaSchema).default({}),
  /** The type of the body by status; null for none. */
  answers: z.record(z.string(), z.string().nullable()),
});

export type Operation = z.infer<typeof operationSchema>;

export const OPERATIONS = z.array(operationSchema).parse(facts.paths);

/** `GET /path` */
export const NOT_SERVED: readonly string[] = facts.notServed;

/** The type of the body of each refusal. */
export const REFUSALS: Readonly<Record<string, string>> = facts.statuses;

const types: Readonly<Record<string, Schema>> = z.record(z.string(), schemaSchema).parse(facts.types);

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats });

const validators = new Map<string, ValidateFunction>();

function faultsOf(schema: Schema, value: unknown): string[] {
  const name = JSON.stringify(schema);
  const validate = validators.get(name) ?? ajv.compile({ types, ...schema });
  validators.set(name, validate);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** What in a value is not of this type. */
export function faultsOfType(type: string, value: unknown): string[] {
  return faultsOf({ $ref: `#/types/${type}` }, value);
}

/** A value in which one member breaks its type. */
interface Broken {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Every right body of an operation, broken once for each member, limit and kind of value. */
export function brokenBodies({ body, examples }: Operation): Broken[] {
  const schema = { anyOf: body.map(type => ({ $ref: `#/types/${type}` })) };
  return examples.flatMap(example => [...brokenIn(schema, example)]);
}

/** Values of which each schema refuses some. */
const CANDIDATES = [null, true, 7, -1, 0, 1.5, '', 'other', [], {}, [7], ['other']];

function* brokenIn(
  given: Schema,
  value: unknown,
  path: readonly (string | number)[] = [],
): Generator<Broken> {
  for (const candidate of [...CANDIDATES, ...beyondLimits(given, value)])
    if (faultsOf(given, candidate).length > 0) yield { path, value: candidate };
  const schema = resolve(given, value);
  if (Array.isArray(value)) {
    const [first, ...others] = value;
    const items = schemaSchema.safeParse(schema['items']);
    if (!items.success || first === undefined) return;
    for (const broken of brokenIn(items.data, first, [...path, 0]))
      yield { ...broken, value: [broken.value, ...others] };
  } else if (typeof value === 'object' && value !== null) yield* brokenMembers(schema, { ...value }, path);
}

function* brokenMembers(
  { properties, required, additionalProperties }: Schema,
  value: Readonly<Record<string, unknown>>,
  path: Broken['path'],
): Generator<Broken> {
  const members = z.record(z.string(), schemaSchema).default({}).parse(properties);
  for (const name of z.array(z.string()).default([]).parse(required)) {
    const { [name]: _, ...rest } = value;
    yield { path: [...path, name], value: rest };
  }
  if (additionalProperties === false) yield { path: [...path, 'more'], value: { ...value, more: 1 } };
  for (const [name, schema] of Object.entries(members))
    for (const broken of brokenIn(schema, value[name], [...path, name]))
      yield { ...broken, value: { ...value, [name]: broken.value } };
}

/** One more, or less, than a limit allows. */
function beyondLimits(given: Schema, value: unknown): unknown[] {
  const { maxLength, maxItems, minimum, exclusiveMinimum, maximum } = limitsSchema.parse(
    resolve(given, value),
  );
  return [
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(maxItems === undefined ? [] : [Array(maxItems + 1).fill({ source: '', name: 'a' })]),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(exclusiveMinimum === undefined ? [] : [exclusiveMinimum]),
    ...(maximum === undefined ? [] : [maximum + 1]),
  ];
}

const limit = z.number().optional();

const limitsSchema = z.object({
  ...{ maxLength: limit, maxItems: limit, minimum: limit, exclusiveMinimum: limit, maximum: limit },
});

/** Follows references, and of alternatives takes the one that the value has. */
function resolve(schema: Schema, value: unknown): Schema {
  const { $ref, anyOf } = schema;
  if (typeof $ref === 'string') return resolve(types[$ref.replace('#/types/', '')] ?? {}, value);
  if (!Array.isArray(anyOf)) return schema;
  const alternatives = z.array(schemaSchema).parse(anyOf);
  const fitting = alternatives.find(each => faultsOf(each, value).length === 0);
  return fitting ? resolve(fitting, value) : {};
}

/** Texts that a parameter of the query refuses. */
export function brokenParameters({ query }: Operation): { readonly name: string; readonly text: string }[] {
  return Object.entries(query).flatMap(([name, schema]) => {
    const texts = [
      'other',
      '',
      '1.5',
      '-',
      '2026-13-01T00:00:00Z',
      ...beyondLimits(schema, undefined).map(String),
    ];
    return texts
      .filter(text => faultsOf(schema, readAs(schema, text)).length > 0)
      .map(text => ({ name, text }));
  });
}

/** A parameter as its type reads it; a text that it cannot read stays. */
function readAs({ type }: Schema, text: string): unknown {
  if (type === 'array') return [text];
  const isNumber = type === 'integer' && text !== '' && !Number.isNaN(Number(text));
  return isNumber ? Number(text) : text;
}
