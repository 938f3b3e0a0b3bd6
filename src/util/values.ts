/** Whether a value is a JSON object (not an array, not null). */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON without whitespace; null if the value is not JSON: a cycle, a bigint, undefined. */
export function compactJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

/** Returns a string unchanged, other values as JSON. Never throws, unlike `String({"toString":1})`. */
export function foreignWords(value: unknown): string {
  return typeof value === 'string' ? value : (compactJson(value) ?? '');
}

/** A path such as `$.tools[0].name`; keys that are not identifiers are quoted: `$["x-y"]`. */
export function jsonPath(path: readonly PropertyKey[]): string {
  return `$${path.map(step).join('')}`;
}

/** Converts a JSON Pointer (RFC 6901) to the same notation. */
export function pointerToPath(pointer: string): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return jsonPath(steps.map(part => (/^\d+$/.test(part) ? Number(part) : part)));
}

function step(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  const name = String(key);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** The value at a path, by own keys only; undefined if missing. */
export function valueAt(tree: unknown, ...path: readonly (string | number)[]): unknown {
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

/** Replaces lone surrogates by U+FFFD, since they have no UTF-8 form. */
export function toWellFormed(text: string): { readonly text: string; readonly replaced: boolean } {
  const formed = text.toWellFormed();
  return { text: formed, replaced: formed !== text };
}
