import type * as z from 'zod/mini';
import { jsonPath } from '../text/json-path.js';

type Issue = z.core.$ZodIssue;

/** A foreign value against a schema: what the schema knows of it, or every fault as `$.path: what is wrong`. */
export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly string[] };

export function validate<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
): Validation<z.infer<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, faults: faultsOf(schema, value) };
}

/** Nearly everything is valid, and to be told what was read makes reading dearer: it is asked for only where it is needed. */
function faultsOf(schema: z.ZodMiniType, value: unknown): string[] {
  const issues = schema.safeParse(value, { reportInput: true, error: wordless }).error?.issues ?? [];
  return issues.map(issue => `${jsonPath(issue.path)}: ${sentence(issue)}`);
}

/** In place of words where a schema has none: ours are made of the issue, whatever language a library's user gave zod. */
export const WORDLESS = 'Invalid input';
const wordless = () => WORDLESS;

export function sentence(issue: Issue): string {
  return issue.message === WORDLESS ? byCode(issue) : issue.message;
}

function byCode(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${article(issue.expected)}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return 'options' in issue && issue.options ? oneOf(issue.options) : 'is not valid';
    case 'too_small':
      return `must ${measure(issue.origin)} at least ${issue.minimum}${unit(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${measure(issue.origin)} at most ${issue.maximum}${unit(issue.origin, issue.maximum)}`;
    case 'unrecognized_keys':
      return `has keys that are not known here: ${issue.keys.join(', ')}`;
    default:
      return 'is not valid';
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be ${values.map(value => JSON.stringify(value)).join(' or ')}`;
}

/** zod's names for types, where JSON has others. */
const JSON_NAMES: Readonly<Record<string, string>> = { int: 'integer', record: 'object' };

function article(type: string): string {
  const name = JSON_NAMES[type] ?? type;
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
}

function measure(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'have' : 'be';
}

const UNITS: Readonly<Record<string, string>> = { string: ' character', array: ' item' };

function unit(origin: string, count: number | bigint): string {
  const name = UNITS[origin] ?? '';
  return name !== '' && Number(count) !== 1 ? `${name}s` : name;
}
