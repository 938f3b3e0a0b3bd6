import { OutOfTime } from '../text/bounded.js';
import { type SchemaFault, toFaults } from './fault.js';
import { UnknownDraft, validatorOf } from './validator.js';

type Schema = Readonly<Record<string, unknown>>;

export type ValueCheck =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  /** The schema itself cannot be used: a remote or endless `$ref`, a pattern that never ends. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly isUnknownDraft?: true };

export type ValueChecker = (value: unknown) => ValueCheck;

/** Validates a value against a schema that passed `checkSchema`. Never throws, never fetches, ends within 2.5 s. */
export async function checkValue(schema: Schema, value: unknown): Promise<ValueCheck> {
  return (await valueChecker(schema))(value);
}

/** As {@link checkValue}, for many values: the schema is compiled once. */
export async function valueChecker(schema: Schema): Promise<ValueChecker> {
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
