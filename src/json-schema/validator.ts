import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { bounded, OutOfTime, weightOf } from '../util/time-limit.js';
import { isRecord } from '../util/values.js';
import { type Draft, draftOf, fromDraft04, unknownDraft } from './drafts.js';
import { type SchemaFault, toFaults } from './faults.js';
import { isPlain, isValid } from './plain-schema.js';

type Schema = Readonly<Record<string, unknown>>;

export type ValueCheck =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  /** The schema cannot be used: a remote or endless `$ref`, a pattern that never ends. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly isUnknownDraft?: true };

export type ValueChecker = (value: unknown) => ValueCheck;

/** Validates a value against a schema without errors. Never throws, never fetches, ends within 2.5 s. */
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
    const { FORMATS } = await import('./ajv.js');
    const validate = await compile(schema, { validateFormats: true, formats: FORMATS });
    return toFaults(validate(value).filter(({ keyword }) => keyword === 'format'));
  } catch {
    return []; // `checkValue` reports an unusable schema
  }
}

class UnknownDraft extends Error {}

function unusable(error: unknown): ValueCheck {
  if (error instanceof UnknownDraft) return { kind: 'unusable', reason: error.message, isUnknownDraft: true };
  if (error instanceof RangeError) return { kind: 'unusable', reason: 'its $ref never ends' };
  const message = error instanceof Error ? error.message : 'it cannot be compiled';
  const advice = 'a pattern, uniqueItems or a long list in the schema is too costly';
  const reason = error instanceof OutOfTime ? `validation ${message}; ${advice}` : message;
  return { kind: 'unusable', reason };
}

/** Time limit for compiling, in ms: enough for a large schema on a busy machine. */
const COMPILE_MS = 2_000;

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
    (compiled ??= bounded(() => createCompiler(options ?? {}).compile(known), COMPILE_MS));
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
      ? bounded(() => errorsOf(validate, value))
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
