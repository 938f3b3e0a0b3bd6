import {
  listOf,
  MOST_DEPTH,
  type Room,
  recordOf,
  roomFor,
  type Schema,
  sizeOf,
  target,
  together,
} from '../../../json-schema/example/resolved.js';
import { isRecord } from '../../../text/is-record.js';

/** Schemas that one may be put together from; more are somebody's trap. */
const MOST_PARTS = 32;

/**
 * A schema with its local `$ref` and all of its `allOf` in one; what it leaves open (`anyOf`, `oneOf`) stays open. Each part and each
 * property that is copied costs a step of `room`.
 */
export function settled(schema: unknown, root: Schema, room: Room = roomFor()): Schema {
  let left = MOST_PARTS;
  const settle = (part: unknown, depth: number): Schema => {
    if (!isRecord(part) || depth > MOST_DEPTH || left-- <= 0 || room.left <= 0) return {};
    room.left -= 1 + sizeOf(part);
    const { $ref, allOf, ...own } = part;
    const parts = [target($ref, root), ...listOf(allOf).slice(0, MOST_PARTS)].filter(isRecord);
    return parts
      .map(inner => settle(inner, depth + 1))
      .reduce((whole: Schema, inner) => {
        room.left -= sizeOf(whole);
        return together(whole, inner);
      }, own);
  };
  return settle(schema, 0);
}

/** The schemas of which a value has one; none where the schema itself says what it is. */
export function variantsOf(schema: Schema, root: Schema, room?: Room): readonly Schema[] {
  const { anyOf, oneOf, ...own } = schema;
  if (Array.isArray(schema['type']))
    return schema['type'].slice(0, MOST_VARIANTS).map(type => ({ ...schema, type }));
  const open = [listOf(anyOf), listOf(oneOf)].find(list => list.length > 0) ?? [];
  if (open.length === 0 || open.length > MOST_VARIANTS) return [];
  const variants = open.map(variant => settled(variant, root, room));
  return isTold(own, variants) ? [] : variants.map(variant => together(variant, own));
}

/** More of them nobody chooses from. */
const MOST_VARIANTS = 20;

/** Where the kind of the value is known and no alternative brings a property, they only say more about it. */
function isTold(own: Schema, variants: readonly Schema[]): boolean {
  if (own['type'] !== undefined && own['type'] !== 'object') return true;
  const known = recordOf(own['properties']);
  const isNew = (name: string) => !Object.hasOwn(known, name);
  const brings = (variant: Schema) => Object.keys(recordOf(variant['properties'])).some(isNew);
  return Object.keys(known).length > 0 && !variants.some(brings);
}
