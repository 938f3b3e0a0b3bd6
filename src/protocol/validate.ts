import type * as z from 'zod/mini';
import { isRecord, jsonPath, valueAt } from '../util/values.js';

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

/** As {@link Validation}; `nulls` are the paths of optional members that were null, which counts as absent. */
type TolerantValidation<T> =
  | { readonly ok: true; readonly value: T; readonly nulls: readonly string[] }
  | { readonly ok: false; readonly faults: readonly string[] };

/** As {@link validate}, with null for an optional member taken as absent: the reference sends and accepts it. */
export function validateTolerantly<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
): TolerantValidation<z.infer<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data, nulls: [] };
  const nulls = parsed.error.issues.map(({ path }) => path).filter(path => isMemberNull(value, path));
  if (nulls.length === 0) return { ok: false, faults: faultsOf(schema, value) };
  const bare = structuredClone(value);
  for (const path of nulls) deleteMember(bare, path);
  const again = schema.safeParse(bare);
  if (again.success) return { ok: true, value: again.data, nulls: nulls.map(path => jsonPath(path)) };
  const required = new Set(again.error.issues.map(({ path }) => jsonPath(path)));
  const isOptional = (fault: string) =>
    nulls.some(path => fault.startsWith(`${jsonPath(path)}: `) && !required.has(jsonPath(path)));
  const faults = [...faultsOf(schema, value), ...faultsOf(schema, bare)].filter(fault => !isOptional(fault));
  return { ok: false, faults: onePerPath(faults) };
}

type Path = Issue['path'];

function isMemberNull(value: unknown, path: Path): boolean {
  const parent = valueAt(value, ...path.slice(0, -1).map(stepOf));
  const name = path.at(-1);
  return isRecord(parent) && typeof name === 'string' && Object.hasOwn(parent, name) && parent[name] === null;
}

function deleteMember(value: unknown, path: Path): void {
  const parent = valueAt(value, ...path.slice(0, -1).map(stepOf));
  if (isRecord(parent)) delete parent[String(path.at(-1))];
}

function stepOf(step: PropertyKey): string | number {
  return typeof step === 'number' ? step : String(step);
}

/** Keeps the first error of each path: "must be a string" for null is better than "is required". */
function onePerPath(faults: readonly string[]): readonly string[] {
  const byPath = new Map<string, string>();
  for (const fault of faults) {
    const [path = ''] = fault.split(': ', 1);
    if (!byPath.has(path)) byPath.set(path, fault);
  }
  return [...byPath.values()];
}

/** Validates again with `reportInput`, which would slow down the first validation. */
function faultsOf(schema: z.ZodMiniType, value: unknown): string[] {
  const issues = schema.safeParse(value, { reportInput: true, error: wordless }).error?.issues ?? [];
  return issues.map(issue => `${jsonPath(issue.path)}: ${sentence(issue)}`);
}

/** In place of words where a schema has none: ours are made of the issue, whatever language a library's user gave zod. */
export const WORDLESS = 'Invalid input';

const wordless = () => WORDLESS;

export function sentence(issue: Issue): string {
  if (issue.message !== WORDLESS) return issue.message;
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
