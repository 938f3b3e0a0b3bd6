import type * as z from 'zod/mini';
import { NO_MESSAGE, sentence } from '../../protocol/validate.js';
import { safeJson } from '../../util/safe-json.js';

export type Path = readonly (string | number)[];

/** One error in a request, in the platform's format: what, where, and the value. */
export interface Detail {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  readonly input: unknown;
}

/** Maximum length of quoted JSON, in characters, and number of details. */
export const MAX = { input: 200, details: 100 };

export function detail(type: string, loc: Path, msg: string, input: unknown = null): Detail {
  const json = safeJson(input);
  return { type, loc, msg, input: json.length <= MAX.input ? input : `${json.slice(0, MAX.input)}…` };
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

/** The platform's names of types whose names in zod differ. */
const TYPES: Readonly<Record<string, string>> = { object: 'dict', record: 'dict', array: 'list' };

export function wrongType(expected: string, loc: Path, input: unknown): Detail {
  const type = TYPES[expected] ?? expected;
  return detail(`${type}_type`, loc, `Input should be a valid ${type}`, input);
}

/** Thrown while a request is read. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly why: string | readonly Detail[],
  ) {
    super();
  }
}

/** Validates an untrusted value. @param loc its path in the request */
export function check<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, loc: Path) {
  const { data, error } = schema.safeParse(value, { reportInput: true, error: () => NO_MESSAGE });
  return { data, details: error?.issues.map(issue => detailOf(issue, loc)) ?? [] };
}

/** Validates an untrusted value. @param loc its path in the request @throws Refused */
export function read<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  loc: Path,
): z.output<Schema> {
  const { data, details } = check(schema, value, loc);
  if (details.length > 0) throw new Refused(422, details);
  return data as z.output<Schema>;
}

/** A value of a body, as it was sent: the schema's copy would lose a key named `__proto__` (threats, row 19). */
export interface Sent {
  readonly value: unknown;
  readonly loc: Path;
}

/** Separates valid items from errors; ignores the items after very many errors. */
export function separate(sent: readonly Sent[], faultsOf: (each: Sent) => readonly Detail[]) {
  const details: Detail[] = [];
  const valid = sent.filter(each => {
    if (details.length >= MAX.details) return false;
    const faults = faultsOf(each);
    details.push(...faults);
    return faults.length === 0;
  });
  return { valid, details };
}

/** Validates items that count only together. @throws Refused with the first errors */
export function readEach(schema: z.ZodMiniType, sent: readonly Sent[]): void {
  const { details } = separate(sent, ({ value, loc }) => check(schema, value, loc).details);
  if (details.length > 0) throw new Refused(422, details);
}

export function itemsAt(loc: Path, values: readonly unknown[]): readonly Sent[] {
  return values.map((value, index) => ({ value, loc: [...loc, index] }));
}
