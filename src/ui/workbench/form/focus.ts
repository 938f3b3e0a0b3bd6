import type { Form } from './form.js';
import { type Row, stopsOf } from './stops.js';

/** None while JSON is written by hand, and on `Run`. */
export function focusedRow({ mode, root, focus }: Form): Row | undefined {
  return mode === 'fields' ? stopsOf(root)[focus] : undefined;
}

/** The form with another stop in focus, the cursor behind its text. */
export function focusOn(form: Form, stop: number): Form {
  if (form.mode === 'raw') return { ...form, focus: Math.max(0, Math.min(1, stop)) };
  const stops = stopsOf(form.root);
  const focus = Math.max(0, Math.min(stops.length, stop));
  const field = stops[focus]?.child.field;
  return { ...form, focus, cursor: field && 'text' in field ? field.text.length : 0 };
}

export function isOnRun(form: Form): boolean {
  return form.focus === (form.mode === 'raw' ? 1 : stopsOf(form.root).length);
}
