import type { Ajv, ErrorObject, Options } from 'ajv';
import { bounded, OutOfTime, patientlyBounded, weightOf } from '../util/bounded.js';
import { isRecord } from '../util/json-diagnosis.js';
import { type Draft, draftOf, unknownDraft } from './draft-04.js';
import { type SchemaFault, toFaults } from './validate.js';

type Schema = Readonly<Record<string, unknown>>;

/** What of a value breaks its schema. @throws what cannot be judged in time. */
type Validator = (value: unknown) => readonly ErrorObject[];

/** Thrown for a schema whose draft is not known here: values are not checked against it. */
class UnknownDraft extends Error {}

/** A large schema takes its time, on a busy machine more; an endless one must still end. */
const COMPILE_MS = 2_000;

/**
 * Compiles a schema that passed `checkSchema`. The watchdog costs more than most checks, so it stands guard only over schemas that
 * hold something costly (threats, row 22).
 * @param more how ajv reads it, beside what is usual here
 * @throws where it cannot be compiled, or not in time.
 */
async function validatorOf(schema: Schema, more: Options = {}): Promise<Validator> {
  const draft = draftOf(schema);
  if (draft === null) throw new UnknownDraft(`it ${unknownDraft(schema)}`);
  const ajv = await compilerFor(draft, more);
  const known = draft === 'draft-04' ? (await import('./draft-04.js')).fromDraft04(schema) : schema;
  const validate = bounded(() => ajv.compile(known), COMPILE_MS);
  const judge: Validator = value => (validate(value) ? [] : (validate.errors ?? []));
  const isCostly = more.validateFormats === true || mentions(schema, COSTLY);
  const mostWeight = MOST_WORK / weightOf(schema, MOST_WORK);
  return value =>
    isCostly || weightOf(value, mostWeight) > mostWeight
      ? patientlyBounded(() => judge(value))
      : judge(value);
}

/** Values times parts of the schema: more than this may take long, a long `enum` for each of many values for example. */
const MOST_WORK = 200_000;

/** Keywords whose work does not grow with the value's size alone: a pattern backtracks, equality is asked of all pairs, a reference repeats. */
const COSTLY = new Set([
  'pattern',
  'patternProperties',
  'uniqueItems',
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
]);

/** Whether one of these keywords stands anywhere in a schema, or a property of that name. */
function mentions(schema: unknown, keywords: ReadonlySet<string>): boolean {
  if (Array.isArray(schema)) return schema.some(part => mentions(part, keywords));
  if (!isRecord(schema)) return false;
  return Object.entries(schema).some(([key, part]) => keywords.has(key) || mentions(part, keywords));
}

async function compilerFor(draft: Draft, more: Options): Promise<Ajv> {
  if (draft === '2020-12') return (await import('./ajv.js')).compiler2020(more);
  return (await import('./ajv-drafts.js')).olderCompiler(draft === 'draft-04' ? 'draft-06' : draft, more);
}

type RemarksSchema = Readonly<Record<string, unknown>>;

const FORMAT = new Set(['format']);

/**
 * Where a value does not look as a `format` of its schema says. That is an annotation (draft 2020-12): something to remark, which
 * hinders nobody. Never throws: of a schema that cannot be used, `checkValue` says so.
 */
export async function remarksOn(schema: RemarksSchema, value: unknown): Promise<readonly SchemaFault[]> {
  try {
    if (!mentions(schema, FORMAT)) return [];
    const { FORMATS } = await import('./validate.js');
    const errorsOf = await validatorOf(schema, { validateFormats: true, formats: FORMATS });
    return toFaults(errorsOf(value).filter(({ keyword }) => keyword === 'format'));
  } catch {
    return [];
  }
}

type CheckValueSchema = Readonly<Record<string, unknown>>;

export type ValueCheck =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  /** The schema itself cannot be used: a remote or endless `$ref`, a pattern that never ends. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly isUnknownDraft?: true };

export type ValueChecker = (value: unknown) => ValueCheck;

/** Validates a value against a schema that passed `checkSchema`. Never throws, never fetches, ends within 2.5 s. */
export async function checkValue(schema: CheckValueSchema, value: unknown): Promise<ValueCheck> {
  return (await valueChecker(schema))(value);
}

/** As {@link checkValue}, for many values: the schema is compiled once. */
export async function valueChecker(schema: CheckValueSchema): Promise<ValueChecker> {
  try {
    const errorsOf = await validatorOf(schema);
    return value => orUnusable(() => checkOf(toFaults(errorsOf(value))));
  } catch (error) {
    return () => unusable(error);
  }
}

function checkOf(faults: readonly SchemaFault[]): ValueCheck {
  return faults.length === 0 ? { kind: 'valid' } : { kind: 'invalid', faults };
}

function orUnusable(check: () => ValueCheck): ValueCheck {
  try {
    return check();
  } catch (error) {
    return unusable(error);
  }
}

function unusable(error: unknown): ValueCheck {
  const isUnknownDraft = error instanceof UnknownDraft;
  return { kind: 'unusable', reason: reasonOf(error), ...(isUnknownDraft && { isUnknownDraft }) };
}

function reasonOf(error: unknown): string {
  if (error instanceof OutOfTime)
    return `validation ${error.message}; a pattern, uniqueItems or a long list in the schema is too costly`;
  if (error instanceof RangeError) return 'its $ref never ends';
  return error instanceof Error ? error.message : 'it cannot be compiled';
}
