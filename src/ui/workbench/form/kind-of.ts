import { type Room, recordOf, type Schema } from '../../../json-schema/example/resolved.js';
import { isRecord } from '../../../text/is-record.js';
import type { Field } from './field.js';
import { variantsOf } from './settled.js';

/** Of a settled schema: what a person fills in; JSON where no field says it better. */
export function kindOf(schema: Schema, root: Schema, room?: Room): Field['kind'] {
  if (valuesOf(schema).length > 0) return 'choice';
  if (variantsOf(schema, root, room).length > 0) return 'variants';
  return BY_TYPE.get(schema['type'] ?? told(schema))?.(schema) ?? 'json';
}

const BY_TYPE: ReadonlyMap<unknown, (schema: Schema) => Field['kind']> = new Map<
  unknown,
  (schema: Schema) => Field['kind']
>([
  ['string', () => 'text'],
  ['number', () => 'number'],
  ['integer', () => 'number'],
  ['object', schema => (hasProperties(schema) ? 'object' : 'json')],
  ['array', schema => (isRecord(schema['items']) && !('prefixItems' in schema) ? 'array' : 'json')],
]);

/** Where no type is named, what the schema speaks of. */
function told(schema: Schema): string | undefined {
  if (hasProperties(schema)) return 'object';
  return isRecord(schema['items']) ? 'array' : undefined;
}

function hasProperties(schema: Schema): boolean {
  return Object.keys(recordOf(schema['properties'])).length > 0;
}

/** The only values that there are, where the schema lists them. */
export function valuesOf(schema: Schema): readonly unknown[] {
  if ('const' in schema) return [schema['const']];
  if (Array.isArray(schema['enum'])) return canBeChosen(schema['enum']) ? schema['enum'] : [];
  return FEW.get(schema['type']) ?? [];
}

/** More values than these are typed, not chosen; values that are objects are compared one by one, so fewer of those. */
const MOST = { plain: 10_000, objects: 100 };

function canBeChosen(values: readonly unknown[]): boolean {
  if (values.length > MOST.plain) return false;
  return values.length <= MOST.objects || values.every(value => typeof value !== 'object' || value === null);
}

const FEW: ReadonlyMap<unknown, readonly unknown[]> = new Map<unknown, readonly unknown[]>([
  ['boolean', [true, false]],
  ['null', [null]],
]);
