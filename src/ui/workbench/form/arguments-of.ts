import { isRecord } from '../../../text/is-record.js';
import { jsonFault } from '../../../text/json-fault.js';
import { withFaults } from './faults.js';
import type { Form } from './form.js';
import { faultsIn } from './read-faults.js';
import { readJsonText } from './read-text.js';
import { sketchOf } from './sketch.js';

/** The arguments, or the form with what is wrong at its fields. */
export type FormArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly form: Form };

/**
 * What was filled in. Only what can be no value at all is a fault here, and what is required and empty; all else is for the
 * `inputSchema` to judge, and comes back through `withFaults`. What is optional and empty is left out.
 */
export function argumentsOf(form: Form): FormArguments {
  if (form.mode === 'raw') return ofRaw(form);
  const faults = faultsIn({ key: null, isRequired: true, isExtra: false, field: form.root });
  const value = sketchOf(form.root);
  if (faults.length > 0) return { ok: false, form: withFaults(form, faults) };
  return isRecord(value) ? { ok: true, value } : notRecord(form);
}

function ofRaw(form: Form): FormArguments {
  const read = readJsonText(form.raw.text);
  if (!read.ok) return { ok: false, form: withFaults(atFault(form), [{ path: '$', message: read.message }]) };
  return isRecord(read.value) ? { ok: true, value: read.value } : notRecord(form);
}

/** The cursor where the text stops being JSON. */
function atFault(form: Form): Form {
  const { text } = form.raw;
  const fault = jsonFault(text);
  if (!fault) return form;
  const above = text.split('\n', fault.line - 1).join('\n').length;
  const cursor = Math.min(text.length, above + (fault.line > 1 ? 1 : 0) + fault.column - 1);
  return { ...form, raw: { text, cursor } };
}

function notRecord(form: Form): FormArguments {
  return { ok: false, form: withFaults(form, [{ path: '$', message: 'must be an object' }]) };
}
