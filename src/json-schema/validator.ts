import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { LIMITS } from '../util/limits.js';
import { excerpt } from '../util/text.js';
import { TimeLimitError, withTimeLimit } from '../util/time-limit.js';
import { isRecord, jsonPath } from '../util/values.js';
import { weightOf } from '../util/weight.js';

type Schema = Readonly<Record<string, unknown>>;

/** One error in a value: its place (a JSON path) and the violated rule. */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

export type ValueCheck =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  /** The schema cannot be used: a remote or endless `$ref`, a pattern that never ends. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly isUnknownDraft?: true };

export type ValueChecker = (value: unknown) => ValueCheck;

/** Validates a value against a schema without errors. Never throws, never fetches, ends within 2.5 s of CPU time. */
export async function checkValue(schema: Schema, value: unknown): Promise<ValueCheck> {
  if (isPlain(schema) && isValid(schema, value)) return { kind: 'valid' };
  return (await valueChecker(schema))(value);
}

/** As {@link checkValue}, for many values: the schema is compiled once. */
export async function valueChecker(schema: Schema): Promise<ValueChecker> {
  try {
    const validate = await compile(schema);
    return value => {
      try {
        const faults = toFaults(validate(value));
        return faults.length === 0 ? { kind: 'valid' } : { kind: 'invalid', faults };
      } catch (error) {
        return unusable(error);
      }
    };
  } catch (error) {
    return () => unusable(error);
  }
}

/** Finds values that do not match a `format`, which is only an annotation (draft 2020-12). Never throws. */
export async function remarksOn(schema: Schema, value: unknown): Promise<readonly SchemaFault[]> {
  try {
    if (!mentions(schema, /^format$/)) return [];
    const { FORMATS } = await import('./formats.js');
    const validate = await compile(schema, { validateFormats: true, formats: FORMATS });
    return toFaults(validate(value).filter(({ keyword }) => keyword === 'format'));
  } catch {
    return []; // `checkValue` reports an unusable schema
  }
}

class UnknownDraft extends Error {}

function unusable(error: unknown): ValueCheck {
  if (error instanceof UnknownDraft) return { kind: 'unusable', reason: error.message, isUnknownDraft: true };
  if (error instanceof RangeError)
    return { kind: 'unusable', reason: 'its $ref never ends, or refers too deep' };
  const message = error instanceof Error ? error.message : 'it cannot be compiled';
  const advice = 'a pattern, uniqueItems or a long list in the schema is too costly';
  const reason = error instanceof TimeLimitError ? `validation ${message}; ${advice}` : message;
  return { kind: 'unusable', reason };
}

/** Maximum number of values times schema parts that is checked without a time limit: a long `enum` for many values is slow. */
const MAX_WORK = 200_000;

/** Keywords whose cost grows faster than the value: backtracking, comparing all pairs, recursion. */
const COSTLY = /^(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef)$/;

/**
 * Compiles a schema without errors; a plain one not before a value breaks it. The time limit costs more than most checks, so it is used
 * only for costly ones (threats, row 22).
 * @throws if the schema cannot be compiled in time; the validator throws if it cannot validate a value in time
 */
async function compile(
  schema: Schema,
  options?: Options,
): Promise<(value: unknown) => readonly ErrorObject[]> {
  const draft = draftOf(schema);
  if (draft === null) throw new UnknownDraft(`it ${unknownDraft(schema)}`);
  const createCompiler = await compilersFor(draft);
  const known = draft === 'draft-04' ? fromDraft04(schema) : schema;
  let compiled: ValidateFunction | undefined;
  const validator = () =>
    (compiled ??= withTimeLimit(() => createCompiler(options ?? {}).compile(known), LIMITS.compileMs.value));
  const errorsOf = (validate: ValidateFunction, value: unknown) =>
    validate(value) ? [] : (validate.errors ?? []);
  const mayBePlain = options === undefined && isPlain(schema);
  if (!mayBePlain) validator();
  const isCostly = options?.validateFormats === true || mentions(schema, COSTLY);
  const maxWeight = MAX_WORK / weightOf(schema, MAX_WORK);
  return value => {
    if (mayBePlain && isValid(schema, value)) return [];
    const validate = validator();
    return isCostly || weightOf(value, maxWeight) > maxWeight
      ? withTimeLimit(() => errorsOf(validate, value))
      : errorsOf(validate, value);
  };
}

/** Whether a schema contains a keyword anywhere, or a property of that name. */
function mentions(schema: unknown, keywords: RegExp): boolean {
  if (Array.isArray(schema)) return schema.some(part => mentions(part, keywords));
  if (!isRecord(schema)) return false;
  return Object.entries(schema).some(([key, part]) => keywords.test(key) || mentions(part, keywords));
}

async function compilersFor(draft: Draft): Promise<(options: Options) => Ajv> {
  if (draft === '2020-12') return (await import('./ajv.js')).compiler2020;
  const { olderCompiler } = await import('./ajv-drafts.js');
  return options => olderCompiler(draft === 'draft-04' ? 'draft-06' : draft, options);
}

/**
 * All errors of each JSON Schema against the meta-schema of its draft; none for an unknown draft. They share one time limit (threats,
 * row 22). Never throws.
 */
export async function checkSchemas(schemas: readonly Schema[]): Promise<readonly (readonly SchemaFault[])[]> {
  const others = new Set(schemas.filter(schema => !isPlain(schema)));
  if (others.size === 0) return schemas.map(() => []);
  const checks = new Map<Draft | null, (schema: Schema) => readonly SchemaFault[]>();
  for (const draft of new Set([...others].map(draftOf))) checks.set(draft, await checkFor(draft));
  const faultsOf = (schema: Schema) => (others.has(schema) && checks.get(draftOf(schema))?.(schema)) || [];
  try {
    return withTimeLimit(() => schemas.map(faultsOf));
  } catch (error) {
    if (!(error instanceof TimeLimitError || error instanceof RangeError)) throw error;
    const message =
      error instanceof TimeLimitError
        ? `checking the schemas ${error.message}`
        : 'is nested too deep to be checked';
    return schemas.map((_, index) => (index === 0 ? [{ path: '$', message }] : []));
  }
}

/** The meta-schema of 2020-12 is compiled at build time, which is much faster; the others are loaded when needed. */
async function checkFor(draft: Draft | null): Promise<(schema: Schema) => readonly SchemaFault[]> {
  if (draft === null)
    return schema =>
      typeof schema['$schema'] === 'string' ? [] : [{ path: '$["$schema"]', message: unknownDraft(schema) }];
  if (draft === '2020-12') {
    const { validate } = await import('./generated/meta-2020-12.js');
    return schema => (validate(schema) ? [] : toFaults(validate.errors));
  }
  const { metaValidator } = await import('./ajv-drafts.js');
  const known = draft === 'draft-04' ? 'draft-06' : draft;
  const validate = metaValidator(known, META_SCHEMA_IDS[known]);
  const faultsOf = (schema: Schema) => (validate(schema) ? [] : toFaults(validate.errors));
  return draft === 'draft-04' ? schema => faultsOf(fromDraft04(schema)) : faultsOf;
}

/**
 * The part of JSON Schema that most tools use. It means the same in every draft, is fast for every value (threats, row 22), and needs no
 * compiler: to load ajv and to compile a schema takes a sixth of the time of a call.
 */
interface PlainSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: PlainSchema;
  readonly properties?: Readonly<Record<string, PlainSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: value => value === null,
  boolean: isBoolean,
  string: isString,
  number: Number.isFinite,
  integer: Number.isInteger,
  array: Array.isArray,
  object: isRecord,
};

/** Limits: levels of a schema, and values of an `enum`, which are compared with each string and number (threats, row 22). */
const MAX = { depth: 20, values: 100 };

/** The keywords, and which of their values are plain and valid. */
const KEYWORDS: Readonly<Record<string, (part: unknown, depth: number) => boolean>> = {
  title: isString,
  description: isString,
  default: () => true,
  type: name => isString(name) && Object.hasOwn(TYPES, name),
  enum: values =>
    isUniqueList(values, value => isString(value) || Number.isFinite(value)) &&
    values.length > 0 &&
    values.length <= MAX.values,
  items: isPlainPart,
  properties: (parts, depth) =>
    isRecord(parts) &&
    Object.entries(parts).every(([name, part]) => name !== '__proto__' && isPlainPart(part, depth)),
  required: names => isUniqueList(names, isString),
  additionalProperties: isBoolean,
  minimum: Number.isFinite,
  maximum: Number.isFinite,
  minLength: isCount,
  maxLength: isCount,
  format: isString, // an annotation
};

/** Whether a schema is plain, and so without errors. */
function isPlain(schema: Schema): schema is PlainSchema & typeof schema {
  const { $schema: _, ...rest } = schema;
  return draftOf(schema) !== null && isPlainPart(rest, 0);
}

function isPlainPart(schema: unknown, depth: number): boolean {
  if (!isRecord(schema) || depth > MAX.depth) return false;
  return Object.entries(schema).every(
    ([keyword, part]) => Object.hasOwn(KEYWORDS, keyword) && KEYWORDS[keyword]?.(part, depth + 1),
  );
}

function isUniqueList(values: unknown, isItem: (value: unknown) => boolean): values is readonly unknown[] {
  return Array.isArray(values) && values.every(isItem) && new Set(values).size === values.length;
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

/** Takes time in proportion to the value. */
function isValid(schema: PlainSchema, value: unknown): boolean {
  const { type, enum: values, items, properties = {}, required = [], additionalProperties = true } = schema;
  if (type !== undefined && !TYPES[type]?.(value)) return false;
  if (values && !values.includes(value)) return false;
  if (typeof value === 'number') return isWithin(value, schema.minimum, schema.maximum);
  if (isString(value)) return isWithin(lengthOf(value, schema), schema.minLength, schema.maxLength);
  if (Array.isArray(value)) return items === undefined || value.every(item => isValid(items, item));
  if (!isRecord(value)) return true;
  return (
    required.every(name => own(value, name) !== undefined) &&
    Object.entries(value).every(([name, part]) => {
      const property = own(properties, name);
      return property ? isValid(property, part) : additionalProperties;
    })
  );
}

function isWithin(
  value: number,
  minimum = Number.NEGATIVE_INFINITY,
  maximum = Number.POSITIVE_INFINITY,
): boolean {
  return value >= minimum && value <= maximum;
}

/** Length in code points, which are counted only where a schema limits them. */
function lengthOf(text: string, { minLength, maxLength }: PlainSchema): number {
  if (minLength === undefined && maxLength === undefined) return 0;
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** The id of each draft's meta-schema. */
const META_SCHEMA_IDS = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
  'draft-06': 'http://json-schema.org/draft-06/schema',
  'draft-04': 'http://json-schema.org/draft-04/schema',
} as const;

/** The supported drafts; 2020-12 is the default (protocol, section 1). */
type Draft = keyof typeof META_SCHEMA_IDS;

const DRAFTS = Object.keys(META_SCHEMA_IDS) as Draft[];

/** The draft of a schema; null if `$schema` names an unknown one. */
export function draftOf(schema: Schema): Draft | null {
  const id = schema['$schema'];
  if (id === undefined) return '2020-12';
  const bare = (text: string) => text.replace(/^https?:/, '').replace(/#$/, ''); // some schemas have https instead of http
  return (typeof id === 'string' && DRAFTS.find(draft => bare(META_SCHEMA_IDS[draft]) === bare(id))) || null;
}

/** A clause saying that `$schema` names an unknown draft. */
export function unknownDraft(schema: Schema): string {
  const id = schema['$schema'];
  const named = typeof id === 'string' ? excerpt(id) : String(id);
  return `names the draft ${named}; supported drafts: ${DRAFTS.join(', ')}`;
}

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS = /^(?:additionalItems|additionalProperties|items|not|allOf|anyOf|oneOf)$/;

/** Keywords whose value is an object of schemas. */
const NAMED = /^(?:properties|patternProperties|definitions|dependencies)$/;

/** Keywords of later drafts: draft-04 ignores them. */
const LATER = /^(?:const|contains|propertyNames|examples|\$id|if|then|else)$/;

const BOUNDS: Readonly<Record<string, string>> = {
  exclusiveMinimum: 'minimum',
  exclusiveMaximum: 'maximum',
};

/** Converts a draft-04 schema to draft-06: `id` becomes `$id`, and an exclusive bound becomes a number. */
function fromDraft04(schema: Schema): Schema {
  return { ...Object(rewritten(schema)), $schema: META_SCHEMA_IDS['draft-06'] };
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten); // schemas, or names (`dependencies`)
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([keyword]) => !LATER.test(keyword));
  return Object.fromEntries(kept.flatMap(([keyword, part]) => rewrittenKeyword(keyword, part, value)));
}

function rewrittenKeyword(keyword: string, value: unknown, schema: Schema): [string, unknown][] {
  if (keyword === 'id') return [['$id', value]];
  const bound = BOUNDS[keyword];
  if (bound !== undefined && typeof value === 'boolean') return value ? [[keyword, schema[bound]]] : [];
  const isExclusive = Object.keys(BOUNDS).some(each => BOUNDS[each] === keyword && schema[each] === true);
  if (isExclusive) return [];
  if (SCHEMAS.test(keyword)) return [[keyword, rewritten(value)]];
  if (!NAMED.test(keyword) || !isRecord(value)) return [[keyword, value]];
  return [
    [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rewritten(part)]))],
  ];
}

/** Maximum number of listed errors; the others are counted. A value can have a million errors, each of which may quote the schema. */
const MAX_FAULTS = 100;

function toFaults(errors: readonly ErrorObject[] | null | undefined): SchemaFault[] {
  const all = errors ?? [];
  const more = all.length - MAX_FAULTS;
  const shown = all.slice(0, MAX_FAULTS).map(toFault);
  return more > 0 ? [...shown, { path: '$', message: `has ${more} more faults` }] : shown;
}

function toFault({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): SchemaFault {
  const path = pointerToPath(instancePath);
  const named = (name: unknown) => `${path}${jsonPath([String(name)]).slice(1)}`;
  switch (keyword) {
    case 'required':
      return { path: named(params['missingProperty']), message: 'is required' };
    case 'additionalProperties':
      return {
        path: named(params['additionalProperty']),
        message: 'is not an allowed property',
      };
    case 'enum':
      return { path, message: `must be one of ${listed(params['allowedValues'])}` };
    case 'const':
      return { path, message: `must be ${quoted(params['allowedValue'])}` };
    case 'format': {
      const format = String(params['format']);
      return {
        path,
        message: `does not look like ${/^[aeio]/.test(format) ? 'an' : 'a'} ${format} (format)`,
      };
    }
    default:
      return { path, message: `${message} (${keyword})` };
  }
}

/** Maximum number of allowed values in a message. */
const MAX_VALUES = 50;

/** Maximum size of a quoted value. */
const MAX_WEIGHT = 50;

function listed(values: unknown): string {
  if (!Array.isArray(values)) return 'the allowed values';
  const shown = values.slice(0, MAX_VALUES).map(quoted);
  const more = values.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function quoted(value: unknown): string {
  if (weightOf(value, MAX_WEIGHT) <= MAX_WEIGHT) return JSON.stringify(value);
  return 'a value that is too long to show';
}

/** Converts a JSON Pointer (RFC 6901) to the same notation. */
function pointerToPath(pointer: string): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return jsonPath(steps.map(part => (/^\d+$/.test(part) ? Number(part) : part)));
}
