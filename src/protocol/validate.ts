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
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return { ok: true, value: parsed.data };
  return {
    ok: false,
    faults: parsed.error.issues.map(issue => `${jsonPath(issue.path)}: ${sentence(issue)}`),
  };
}

/** What zod says where nobody gave it words. */
const WORDLESS = 'Invalid input';

function sentence(issue: Issue): string {
  return issue.message === WORDLESS ? byCode(issue) : issue.message;
}

function byCode(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${article(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.map(value => JSON.stringify(value)).join(' or ')}`;
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
