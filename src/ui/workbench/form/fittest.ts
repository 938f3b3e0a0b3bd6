import { listOf, recordOf, type Schema } from '../../../json-schema/example/resolved.js';
import { compactJson } from '../../../text/compact-json.js';
import { isRecord } from '../../../text/is-record.js';
import type { Field } from './field.js';
import { kindOf, valuesOf } from './kind-of.js';
import { settled } from './settled.js';

/** The index of the variant that a value is most likely of; looked at no deeper than its own members. */
export function fittest(variants: readonly Schema[], value: unknown, root: Schema): number {
  const faults = variants.map(variant => misfits(variant, value, root));
  return faults.indexOf(Math.min(...faults));
}

const WRONG = 1_000;

function misfits(schema: Schema, value: unknown, root: Schema): number {
  const values = valuesOf(schema);
  if (values.length > 0) return includes(values, value) ? 0 : WRONG;
  return BY_KIND[kindOf(schema, root)](schema, value, root);
}

type Misfits = (schema: Schema, value: unknown, root: Schema) => number;

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
function membersMisfit(schema: Schema, value: unknown, root: Schema): number {
  if (!isRecord(value)) return WRONG;
  const properties = recordOf(schema['properties']);
  const missing = listOf(schema['required']).filter(name => !Object.hasOwn(value, String(name)));
  const unknown = Object.keys(value).filter(name => !Object.hasOwn(properties, name));
  const wrong = Object.entries(properties).filter(([name, property]) => {
    const values = valuesOf(settled(property, root));
    return Object.hasOwn(value, name) && values.length > 0 && !includes(values, value[name]);
  });
  return unknown.length + 10 * (missing.length + wrong.length);
}

function includes(values: readonly unknown[], value: unknown): boolean {
  const wanted = compactJson(value);
  return values.some(one => compactJson(one) === wanted);
}
