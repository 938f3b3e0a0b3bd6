import type { Ajv } from 'ajv';
import { bounded, OutOfTime, patientlyBounded } from '../text/bounded.js';
import { isRecord } from '../text/is-record.js';
import { type Draft, draftOf } from './dialect.js';
import { type SchemaFault, toFaults } from './fault.js';

type Schema = Readonly<Record<string, unknown>>;

/** A large schema takes its time, on a busy machine more; an endless one must still end. */
const COMPILE_MS = 2_000;

export type ValueCheck =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  /** The schema itself cannot be used: a remote or endless `$ref`, a pattern that never ends. */
  | { readonly kind: 'unusable'; readonly reason: string };

export type ValueChecker = (value: unknown) => ValueCheck;

/** Validates a value against a schema that passed `checkSchema`. Never throws, never fetches, ends within 2.5 s. */
export async function checkValue(schema: Schema, value: unknown): Promise<ValueCheck> {
  return (await valueChecker(schema))(value);
}

/**
 * As {@link checkValue}, for many values: the schema is compiled once. The watchdog costs more than most checks,
 * so it stands guard only over schemas that hold something costly (threats, row 22).
 */
export async function valueChecker(schema: Schema): Promise<ValueChecker> {
  const draft = draftOf(schema);
  if (draft === null) return always('its $schema names an unknown draft');
  const ajv = await compilerFor(draft);
  try {
    const validate = bounded(() => ajv.compile(schema), COMPILE_MS);
    const judge = (value: unknown): ValueCheck =>
      validate(value) ? { kind: 'valid' } : { kind: 'invalid', faults: toFaults(validate.errors) };
    const check = isCostly(schema) ? (value: unknown) => patientlyBounded(() => judge(value)) : judge;
    return value => orUnusable(() => check(value));
  } catch (error) {
    return always(reasonOf(error));
  }
}

function always(reason: string): ValueChecker {
  return () => ({ kind: 'unusable', reason });
}

function orUnusable(check: () => ValueCheck): ValueCheck {
  try {
    return check();
  } catch (error) {
    return { kind: 'unusable', reason: reasonOf(error) };
  }
}

/** Keywords whose work does not grow with the value's size alone: a pattern backtracks, equality is asked of all pairs, a reference repeats. */
const COSTLY = new Set([
  'pattern',
  'patternProperties',
  'uniqueItems',
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
]);

function isCostly(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isCostly);
  return isRecord(schema) && Object.entries(schema).some(([key, part]) => COSTLY.has(key) || isCostly(part));
}

async function compilerFor(draft: Draft): Promise<Ajv> {
  if (draft === '2020-12') return (await import('./ajv.js')).compiler2020();
  return (await import('./ajv-drafts.js')).olderCompiler(draft);
}

function reasonOf(error: unknown): string {
  if (error instanceof OutOfTime)
    return `validation ${error.message}; a pattern or uniqueItems in the schema is too costly`;
  if (error instanceof RangeError) return 'its $ref never ends';
  return error instanceof Error ? error.message : 'it cannot be compiled';
}
