import type * as z from 'zod/mini';
import { isRecord, jsonPath, valueAt } from '../util/values.js';

type Issue = z.core.$ZodIssue;

/** The result of validating a value: the fields that the schema has, or every error as `$.path: what is wrong`. */
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

/**
 * As {@link validate}, but null counts as absent for an optional member: the reference sends and accepts null. `nulls` are the paths of
 * these members, if any.
 */
export function validateTolerantly<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
): Validation<z.infer<Schema>> & { readonly nulls?: readonly string[] } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const nulls = parsed.error.issues
    .map(({ path }) => path)
    .filter(path => isRecord(parentOf(value, path)) && valueAt(value, ...path) === null);
  const missing = schema.safeParse(withoutMembers(value, nulls)).error?.issues ?? [];
  const required = new Set(missing.map(({ path }) => jsonPath(path)));
  const optional = nulls.filter(path => !required.has(jsonPath(path)));
  const checked = validate(schema, withoutMembers(value, optional));
  return checked.ok ? { ...checked, nulls: optional.map(path => jsonPath(path)) } : checked;
}

type Path = Issue['path'];

function withoutMembers(value: unknown, paths: readonly Path[]): unknown {
  if (paths.length === 0) return value;
  const copy = structuredClone(value);
  for (const path of paths) {
    const parent = parentOf(copy, path);
    if (isRecord(parent)) delete parent[String(path.at(-1))];
  }
  return copy;
}

function parentOf(value: unknown, path: Path): unknown {
  return valueAt(value, ...path.slice(0, -1));
}

/** Validates again with `reportInput`, which would slow down the first validation. */
function faultsOf(schema: z.ZodMiniType, value: unknown): string[] {
  const issues = schema.safeParse(value, { reportInput: true, error: () => NO_MESSAGE }).error?.issues ?? [];
  return issues.map(issue => `${jsonPath(issue.path)}: ${sentence(issue)}`);
}

/** The message of an issue without a text from its schema. The text is then made from the issue, whatever locale zod has. */
export const NO_MESSAGE = 'Invalid input';

export function sentence(issue: Issue): string {
  if (issue.message !== NO_MESSAGE) return issue.message;
  return issue.input === undefined ? 'is required' : byCode(issue);
}

function byCode(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return 'options' in issue && issue.options ? oneOf(issue.options) : 'is not valid';
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum);
    case 'unrecognized_keys':
      return `has unknown keys: ${issue.keys.join(', ')}`;
    default:
      return 'is not valid';
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be ${values.map(value => JSON.stringify(value)).join(' or ')}`;
}

/** JSON's names for types that zod names differently. */
const JSON_NAMES: Readonly<Record<string, string>> = { int: 'integer', record: 'object' };

function article(type: string): string {
  const name = JSON_NAMES[type] ?? type;
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

/** `have at least 1 item`, `be at least 0`. */
function bound(origin: string, limit: string, count: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${limit} ${count}`;
  return `must have ${limit} ${count} ${unit}${Number(count) === 1 ? '' : 's'}`;
}
