import { listOf, recordOf, type Schema } from '../../../json-schema/example/resolved.js';
import { isRecord } from '../../../text/is-record.js';
import type { Field } from './field.js';
import { kindOf, valuesOf } from './kind-of.js';
import { placeOf } from './plain-field.js';
import type { Setting } from './setting.js';
import { settled } from './settled.js';

/** The index of the variant that a value is most likely of; looked at no deeper than its own members. */
export function fittest(variants: readonly Schema[], value: unknown, setting: Bounds): number {
  const faults = variants.map(variant => misfits(variant, value, setting));
  return faults.indexOf(Math.min(...faults));
}

type Bounds = Pick<Setting, 'root' | 'steps'>;

const WRONG = 1_000;
/** Values of an `enum` that are compared in the time of a step. */
const COMPARED = 100;

function misfits(schema: Schema, value: unknown, bounds: Bounds): number {
  const values = valuesOf(schema);
  if (values.length > 0) return placeOf(value, values) >= 0 ? 0 : WRONG;
  return BY_KIND[kindOf(schema, bounds.root, bounds.steps)](schema, value, bounds);
}

type Misfits = (schema: Schema, value: unknown, bounds: Bounds) => number;

const BY_KIND: Readonly<Record<Field['kind'], Misfits>> = {
  text: (_, value) => (typeof value === 'string' ? 0 : WRONG),
  number: ({ type }, value) => (isNumber(value, type === 'integer') ? 0 : WRONG),
  array: (_, value) => (Array.isArray(value) ? 0 : WRONG),
  object: membersMisfit,
  choice: () => WRONG,
  json: () => 1, // whatever it is; one that says more comes first
  variants: () => 1,
};

function isNumber(value: unknown, isInteger: boolean): boolean {
  return isInteger ? Number.isInteger(value) : typeof value === 'number';
}

/** What is missing, what it does not know, and above all what must be another value: that is how variants are told apart. */
function membersMisfit(schema: Schema, value: unknown, { root, steps }: Bounds): number {
  if (!isRecord(value)) return WRONG;
  const properties = recordOf(schema['properties']);
  const missing = listOf(schema['required']).filter(name => !Object.hasOwn(value, String(name)));
  const unknown = Object.keys(value).filter(name => !Object.hasOwn(properties, name));
  const wrong = Object.entries(properties).filter(([name, property]) => {
    if (!Object.hasOwn(value, name)) return false;
    const values = valuesOf(settled(property, root, steps));
    steps.left -= Math.floor(values.length / COMPARED);
    return values.length > 0 && placeOf(value[name], values) < 0;
  });
  return unknown.length + 10 * (missing.length + wrong.length);
}
