import type { Schema } from '../../../json-schema/example/resolved.js';
import { compactJson } from '../../../text/compact-json.js';
import type { ChoiceField, TextField } from './field.js';
import { valuesOf } from './kind-of.js';
import type { Setting } from './setting.js';

export function textField(schema: Schema, value: unknown): TextField | null {
  if (value !== undefined && typeof value !== 'string') return null;
  return { kind: 'text', schema, text: value ?? '', sendsEmpty: value === '' };
}

export function numberField(schema: Schema, value: unknown): TextField | null {
  if (value !== undefined && typeof value !== 'number') return null;
  const text = Object.is(value, -0) ? '-0' : String(value ?? '');
  return { kind: 'number', schema, text, sendsEmpty: false };
}

export function jsonField(schema: Schema, value: unknown): TextField {
  const text = value === undefined ? '' : (compactJson(value) ?? '');
  return { kind: 'json', schema, text, sendsEmpty: false };
}

export function choiceField(schema: Schema, value: unknown, { isRequired }: Setting): ChoiceField | null {
  const values = valuesOf(schema);
  const only = isRequired && values.length === 1 ? 0 : null;
  const at = value === undefined ? only : placeOf(value, values);
  return at === -1 ? null : { kind: 'choice', schema, values, at };
}

/** The index of an equal value; -1 where there is none. */
export function placeOf(value: unknown, values: readonly unknown[]): number {
  if (typeof value !== 'object' || value === null) return values.indexOf(value);
  const wanted = compactJson(value);
  return values.findIndex(one => typeof one === 'object' && compactJson(one) === wanted);
}
