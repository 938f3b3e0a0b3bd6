import { isRecord } from '../../../text/is-record.js';
import { jsonFault } from '../../../text/json-fault.js';
import { withFaults } from './faults.js';
import type { Child } from './field.js';
import type { Form } from './form.js';
import { faultsIn, standIn, unfilled, unreadable } from './read-faults.js';
import { readJsonText } from './read-text.js';
import { sketchOf } from './sketch.js';

/** The arguments, or the form with what is wrong at its fields. */
export type FormArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly form: Form;
      /** The arguments as if nothing of that were wrong, for the `inputSchema` to judge the others; null where none can be read. */
      readonly others: Record<string, unknown> | null;
    };

/**
 * What was filled in. Only what can be no value at all is a fault here, and what is required and empty; all else is for the
 * `inputSchema` to judge, and comes back through `withFaults`. What is empty otherwise is left out.
 * @param demands what is required; else that may be empty, too
 */
export function argumentsOf(form: Form, demands = true): FormArguments {
  if (form.mode === 'raw') return ofRaw(form);
  const whole: Child = { key: null, isRequired: true, isExtra: false, field: form.root };
  const faults = faultsIn(whole, demands ? unfilled : unreadable);
  if (faults.length > 0) return refused(withFaults(form, faults), standIn(whole, form.schema));
  return accepted(form, sketchOf(form.root));
}

function refused(form: Form, others: unknown = null): FormArguments {
  return { ok: false, form, others: isRecord(others) ? others : null };
}

function accepted(form: Form, value: unknown): FormArguments {
  if (isRecord(value)) return { ok: true, value };
  return refused(withFaults(form, [{ path: '$', message: 'must be an object' }]));
}

function ofRaw(form: Form): FormArguments {
  const read = readJsonText(form.raw.text);
  if (!read.ok) return refused(withFaults(atFault(form), [{ path: '$', message: read.message }]));
  return accepted(form, read.value);
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
