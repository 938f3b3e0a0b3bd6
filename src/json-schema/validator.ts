import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { LIMITS } from '../util/limits.js';
import { TimeLimitError, withTimeLimit } from '../util/time-limit.js';
import { isRecord } from '../util/values.js';
import { weightOf } from '../util/weight.js';
import { type Draft, draftOf, fromDraft04, META_SCHEMA_IDS, type Schema, unknownDraft } from './drafts.js';
import { isPlain, isValid } from './plain-schema.js';
import { type SchemaFault, toFaults } from './schema-faults.js';

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
