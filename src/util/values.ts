import { exactJson } from './exact-json.js';

/** Whether a value is a JSON object (not an array, not null). */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value, or an empty record. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The value, or an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** JSON without whitespace; null if the value is not JSON: a cycle, a bigint, undefined. */
export function compactJson(value: unknown): string | null {
  try {
    return exactJson(value) ?? null;
  } catch {
    return null;
  }
}

/** Returns a string unchanged, other values as JSON. Never throws, unlike `String({"toString":1})`. */
export function stringOrJson(value: unknown): string {
  return typeof value === 'string' ? value : (compactJson(value) ?? '');
}

/** A path such as `$.tools[0].name`; keys that are not identifiers are quoted: `$["x-y"]`. */
export function jsonPath(path: readonly PropertyKey[]): string {
  return `$${path.map(step).join('')}`;
}

function step(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  const name = String(key);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** The value at a path, by own keys only; undefined if missing. */
export function valueAt(tree: unknown, ...path: readonly PropertyKey[]): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = value[key as keyof typeof value];
  }
  return value;
}

export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isRecord(value) ? Object.values(value).flatMap(stringsIn) : [];
}
