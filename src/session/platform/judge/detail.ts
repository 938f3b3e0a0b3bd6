import type * as z from 'zod/mini';
import { sentence, WORDLESS } from '../../../protocol/validate.js';
import { safeJson } from '../../../text/json-safe.js';

type Path = readonly (string | number)[];
type Issue = z.core.$ZodIssue;

/** One thing that is wrong with a request, as the platform tells it (platforms): what, where, and what was there. */
export interface Detail {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  readonly input: unknown;
}

/** Characters of JSON: a longer value is told by its beginning. */
const LONGEST_INPUT = 200;

export function detail(type: string, loc: Path, msg: string, input: unknown): Detail {
  return { type, loc, msg, input: bounded(input) };
}

/** A foreign value by a schema: what the schema knows of it, or each fault with its place below `loc`. */
export function read<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  loc: Path,
):
  | { readonly ok: true; readonly value: z.output<Schema> }
  | { readonly ok: false; readonly details: Detail[] } {
  const parsed = schema.safeParse(value, { reportInput: true, error: () => WORDLESS });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, details: parsed.error.issues.map(issue => detailOf(issue, loc)) };
}

function detailOf(issue: Issue, loc: Path): Detail {
  const at = [...loc, ...issue.path.map(key => (typeof key === 'symbol' ? String(key) : key))];
  if (issue.input === undefined) return detail('missing', at, 'Field required', null);
  if (issue.code === 'invalid_type') {
    const [type, words] = TYPES[issue.expected] ?? [`${issue.expected}_type`, `valid ${issue.expected}`];
    return detail(type, at, `Input should be a ${words}`, issue.input);
  }
  if (issue.code === 'invalid_value')
    return detail(
      'literal_error',
      at,
      `Input should be ${issue.values.map(quoted).join(' or ')}`,
      issue.input,
    );
  return detail('value_error', at, `Input ${sentence(issue)}`, issue.input);
}

/** The platform's names for types. */
const TYPES: Readonly<Record<string, readonly [type: string, words: string]>> = {
  string: ['string_type', 'valid string'],
  object: ['dict_type', 'valid dictionary'],
  record: ['dict_type', 'valid dictionary'],
  array: ['list_type', 'valid list'],
  int: ['int_type', 'valid integer'],
  number: ['float_type', 'valid number'],
  boolean: ['bool_type', 'valid boolean'],
};

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function bounded(input: unknown): unknown {
  const json = safeJson(input ?? null);
  return json.length <= LONGEST_INPUT ? input : `${json.slice(0, LONGEST_INPUT)}…`;
}
