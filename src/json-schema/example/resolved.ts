import { isRecord } from '../../text/is-record.js';
import { valueAt } from '../../text/value-at.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Deeper than this nobody reads an example, and a `$ref` to itself ends. */
export const MOST_DEPTH = 12;

/** A schema with what it refers to and is composed of in one: local `$ref`, all of `allOf`, the first of `anyOf` and `oneOf`. */
export function resolved(schema: unknown, root: Schema, depth = 0): Schema {
  if (!isRecord(schema)) return {};
  if (depth > MOST_DEPTH) return schema;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [target($ref, root), ...listOf(allOf), listOf(anyOf)[0], listOf(oneOf)[0]];
  return parts.map(part => resolved(part, root, depth + 1)).reduce(together, own);
}

/** The first one's word counts; what both describe is described, and what both demand is demanded. */
export function together(one: Schema, other: Schema): Schema {
  const properties = { ...recordOf(other['properties']), ...recordOf(one['properties']) };
  const required = [...new Set([...listOf(one['required']), ...listOf(other['required'])])];
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** Within the document only: a remote one is never fetched (threats, row 23). */
export function target(ref: unknown, root: Schema): unknown {
  if (typeof ref !== 'string' || !/^#(?:\/|$)/.test(ref)) return undefined;
  const steps = ref.slice(1).split('/').slice(1);
  return valueAt(root, ...steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~')));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function recordOf(value: unknown): Schema {
  return isRecord(value) ? value : {};
}
