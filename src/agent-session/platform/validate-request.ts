import type * as z from 'zod/mini';
import { NO_MESSAGE, sentence } from '../../protocol/validate.js';
import { type Detail, detail, MAX_DETAILS, type Path, Refused, wrongType } from './request-errors.js';

/** A value of a body, as it was sent: the schema's copy would lose a key named `__proto__` (threats, row 19). */
export interface Sent {
  readonly value: unknown;
  readonly loc: Path;
}

export interface Validated<T> {
  /** Undefined if the value is not valid. */
  readonly data: T | undefined;
  readonly details: readonly Detail[];
}

export interface Separated {
  readonly valid: readonly Sent[];
  readonly details: readonly Detail[];
}

/** Validates an untrusted value. @param loc its path in the request */
export function validateAt<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  loc: Path,
): Validated<z.output<Schema>> {
  const { data, error } = schema.safeParse(value, { reportInput: true, error: () => NO_MESSAGE });
  return { data, details: error?.issues.map(issue => detailOf(issue, loc)) ?? [] };
}

/** Validates an untrusted value. @param loc its path in the request @throws Refused */
export function readAt<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  loc: Path,
): z.output<Schema> {
  const { data, details } = validateAt(schema, value, loc);
  if (details.length > 0) throw new Refused(422, details);
  return data as z.output<Schema>;
}

/** Separates valid items from errors; ignores the items after very many errors. */
export function separateValid(sent: readonly Sent[], faultsOf: (each: Sent) => readonly Detail[]): Separated {
  const details: Detail[] = [];
  const valid = sent.filter(each => {
    if (details.length >= MAX_DETAILS) return false;
    const faults = faultsOf(each);
    details.push(...faults);
    return faults.length === 0;
  });
  return { valid, details };
}

/** Validates items that count only together. @throws Refused with the first errors */
export function validateEach(schema: z.ZodMiniType, sent: readonly Sent[]): void {
  const { details } = separateValid(sent, ({ value, loc }) => validateAt(schema, value, loc).details);
  if (details.length > 0) throw new Refused(422, details);
}

export function itemsAt(loc: Path, values: readonly unknown[]): readonly Sent[] {
  return values.map((value, index) => ({ value, loc: [...loc, index] }));
}

function detailOf(issue: z.core.$ZodIssue, loc: Path): Detail {
  const { input, path } = issue;
  const at = [...loc, ...path.map(key => (typeof key === 'symbol' ? String(key) : key))];
  if (input === undefined) return detail('missing', at, 'Field required');
  if (issue.code === 'invalid_type') return wrongType(issue.expected, at, input);
  if (issue.code !== 'invalid_value') return detail('value_error', at, `Input ${sentence(issue)}`, input);
  const quoted = issue.values.map(value => (typeof value === 'string' ? `'${value}'` : String(value)));
  return detail('literal_error', at, `Input should be ${quoted.join(' or ')}`, input);
}
