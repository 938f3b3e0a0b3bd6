import type { Ajv, ErrorObject, Options } from 'ajv';
import { bounded, patientlyBounded, weightOf } from '../text/bounded.js';
import { isRecord } from '../text/is-record.js';
import { type Draft, draftOf, unknownDraft } from './dialect.js';

type Schema = Readonly<Record<string, unknown>>;

/** What of a value breaks its schema. @throws what cannot be judged in time. */
export type Validator = (value: unknown) => readonly ErrorObject[];

/** Thrown for a schema whose draft is not known here: values are not checked against it. */
export class UnknownDraft extends Error {}

/** A large schema takes its time, on a busy machine more; an endless one must still end. */
const COMPILE_MS = 2_000;

/**
 * Compiles a schema that passed `checkSchema`. The watchdog costs more than most checks, so it stands guard only over schemas that
 * hold something costly (threats, row 22).
 * @param more how ajv reads it, beside what is usual here
 * @throws where it cannot be compiled, or not in time.
 */
export async function validatorOf(schema: Schema, more: Options = {}): Promise<Validator> {
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
export function mentions(schema: unknown, keywords: ReadonlySet<string>): boolean {
  if (Array.isArray(schema)) return schema.some(part => mentions(part, keywords));
  if (!isRecord(schema)) return false;
  return Object.entries(schema).some(([key, part]) => keywords.has(key) || mentions(part, keywords));
}

async function compilerFor(draft: Draft, more: Options): Promise<Ajv> {
  if (draft === '2020-12') return (await import('./ajv.js')).compiler2020(more);
  return (await import('./ajv-drafts.js')).olderCompiler(draft === 'draft-04' ? 'draft-06' : draft, more);
}
