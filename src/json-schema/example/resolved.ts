import { isRecord } from '../../text/is-record.js';
import { valueAt } from '../../text/value-at.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Deeper than this nobody reads an example, and a `$ref` to itself ends. */
export const MOST_DEPTH = 12;

/** Steps that work on a foreign schema may still take; shared by everything that belongs to one piece of work. */
export interface Room {
  left: number;
}

/** Enough for an example of any schema that people write. */
const MOST_STEPS = 20_000;

export function roomFor(steps = MOST_STEPS): Room {
  return { left: steps };
}

/**
 * A schema with what it refers to and is composed of in one: local `$ref`, all of `allOf`, the first of `anyOf` and `oneOf`. Each
 * part costs a step, and so does each property that is copied; parts for which there is no room are left out.
 */
export function resolved(schema: unknown, root: Schema, room = roomFor(), depth = 0): Schema {
  if (!isRecord(schema)) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  room.left -= 1 + Object.keys(own).length;
  if (depth > MOST_DEPTH) return schema;
  let whole: Schema = own;
  for (const part of [target($ref, root), ...listOf(allOf), listOf(anyOf)[0], listOf(oneOf)[0]]) {
    if (!isRecord(part)) continue;
    if (room.left <= 0) break;
    const inner = resolved(part, root, room, depth + 1);
    room.left -= sizeOf(whole) + sizeOf(inner);
    whole = together(whole, inner);
  }
  return whole;
}

/** What putting two schemas together copies of one of them. */
export function sizeOf(schema: Schema): number {
  return Object.keys(recordOf(schema['properties'])).length + listOf(schema['required']).length;
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
