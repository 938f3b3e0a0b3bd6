import type { Schema } from '../../../json-schema/example/resolved.js';
import type { Field } from './field.js';
import { fieldOf } from './field-of.js';
import { focusOn } from './focus.js';
import type { Form } from './form.js';
import { rawOf } from './raw-of.js';
import { freshSetting, type Setting } from './setting.js';

/**
 * A form for an `inputSchema`, which may be anything. Without `initial` every default is filled in; with it only what is required
 * and missing is, so that what a call had comes out the same. What no field can hold opens as JSON.
 */
export function formOf(schema: Schema, initial?: Readonly<Record<string, unknown>>): Form {
  const setting: Setting = {
    ...freshSetting(schema, 0),
    defaults: initial === undefined ? 'all' : 'required',
  };
  const root = fieldOf({ type: 'object', ...schema }, initial, setting);
  const form: Form = {
    schema,
    mode: 'fields',
    root,
    raw: { text: '', cursor: 0 },
    focus: 0,
    cursor: 0,
    faults: [],
  };
  return isFillable(root) ? focusOn(form, 0) : { ...form, mode: 'raw', raw: rawOf(root) };
}

/** What has fields; all else is written as JSON. */
export function isFillable({ kind }: Field): boolean {
  return kind === 'object' || kind === 'variants';
}
