import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/schema-faults.js';
import { jsonFault } from '../../../util/json-fault.js';
import { isRecord } from '../../../util/values.js';
import { type TextInput, textInput } from '../../text-input.js';
import { type Defaults, type Field, FieldMaker, KINDS, readFields } from './fields.js';
import { plainPath, type Row, rowFinder, rowsOf } from './rows.js';

/** A form for the arguments of a call. */
export interface FormState {
  readonly schema: Schema;
  readonly root: Field;
  /** `raw`: all arguments are one JSON text. */
  readonly mode: 'fields' | 'raw';
  readonly raw: TextInput;
  /** The index of the focused row; the last one is `Run`. In raw mode the text is the only other one. */
  readonly focus: number;
  /** The offset in the text of the focused field. */
  readonly cursor: number;
  readonly faults: readonly SchemaFault[];
}

/** The arguments, or the form with its faults. */
type FormArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly form: FormState };

/**
 * A form for any `inputSchema`. Arguments that no field can hold open as JSON.
 * @param defaults which missing values are filled in; with `none`, the given arguments stay as they are
 */
export function formOf(
  schema: Schema,
  given?: Readonly<Record<string, unknown>>,
  defaults: Defaults = 'all',
): FormState {
  const root = new FieldMaker(schema).arguments(given, defaults);
  const form: FormState = { schema, root, mode: 'fields', raw: rawOf(root), focus: 0, cursor: 0, faults: [] };
  return hasFields(form) ? focusOn(form, 0) : { ...form, mode: 'raw' };
}

/** Applies a schema that may have changed, and keeps the typed values. */
export function withSchema(form: FormState, schema: Schema): FormState {
  if (isDeepStrictEqual(form.schema, schema)) return form;
  const { value: typed } = readFields(form.root);
  const fresh = formOf(schema, isRecord(typed) ? typed : {}, 'required');
  const { mode, raw } = form;
  return mode === 'raw' ? focusOn({ ...fresh, mode, raw }, 0) : fresh;
}

/** Whether the arguments can be edited in fields. */
export function hasFields({ root }: FormState): boolean {
  return root.kind === 'object' || root.kind === 'variants';
}

/** Empty in raw mode. */
export function formRows({ mode, root }: FormState): readonly Row[] {
  return mode === 'raw' ? [] : rowsOf(root);
}

/** Undefined on `Run` and in raw mode. */
export function focusedRow(form: FormState): Row | undefined {
  return focusableRows(form)[form.focus];
}

export function isOnRun(form: FormState): boolean {
  return form.focus === runIndex(form);
}

export function focusableRows(form: FormState): readonly Row[] {
  return formRows(form).filter(({ isFocusable }) => isFocusable);
}

function runIndex(form: FormState): number {
  return form.mode === 'raw' ? 1 : focusableRows(form).length;
}

export function focusOn(form: FormState, index: number): FormState {
  const focus = Math.max(0, Math.min(runIndex(form), index));
  return { ...form, focus, cursor: focusableRows(form)[focus]?.field.text.length ?? 0 };
}

/** Adds faults to the form. @param moves the focus to the first field with a fault */
export function withFaults(form: FormState, faults: readonly SchemaFault[], moves = true): FormState {
  const faulty = { ...form, faults };
  if (!moves) return faulty;
  if (form.mode === 'raw') return focusOn(faulty, 0);
  const rows = formRows(form);
  const wrong = new Set(faults.map(rowFinder(rows)));
  const first = rows.findIndex(row => wrong.has(row));
  if (first < 0) return faulty;
  return focusOn(faulty, rows.slice(0, first).filter(row => row.isFocusable).length);
}

/** The messages of each row; undefined is the key for those of no row. */
export function formMessages(form: FormState): ReadonlyMap<Row | undefined, readonly string[]> {
  const find = rowFinder(formRows(form));
  const messages = new Map<Row | undefined, string[]>();
  for (const fault of form.faults) {
    const row = find(fault);
    const rest = plainPath(fault.path).slice(row?.path.length ?? 0);
    const message = rest === '' || rest === '$' ? fault.message : `${rest} ${fault.message}`;
    messages.set(row, [...(messages.get(row) ?? []), message]);
  }
  return messages;
}

/**
 * The typed arguments; empty optional fields are left out. Faults are invalid texts and empty required fields; `withFaults` adds those of
 * the `inputSchema`.
 * @param demandsRequired false: required fields may be empty too
 */
export function formArguments(form: FormState, demandsRequired = true): FormArguments {
  if (form.mode === 'raw') return rawArguments(form);
  const { value, faults } = readFields(form.root, demandsRequired);
  return faults.length > 0 ? { ok: false, form: withFaults(form, faults) } : accept(form, value);
}

/** Moves the cursor to a syntax error. */
function rawArguments(form: FormState): FormArguments {
  const { raw, root } = form;
  const { value, fault } = KINDS.json.read({ ...root, text: raw.text });
  if (fault === undefined) return accept(form, value);
  const { line = 1, column } = jsonFault(raw.text) ?? {};
  const above = raw.text.split('\n', line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const cursor = column === undefined ? raw.cursor : above + column - 1;
  return refuse({ ...form, raw: textInput(raw.text, cursor) }, fault);
}

function accept(form: FormState, value: unknown): FormArguments {
  return isRecord(value) ? { ok: true, value } : refuse(form, 'must be an object');
}

function refuse(form: FormState, message: string): FormArguments {
  return { ok: false, form: withFaults(form, [{ path: '$', message }]) };
}

/** The arguments as JSON text, with the cursor inside its braces. */
export function rawOf(root: Field): TextInput {
  const text = JSON.stringify(readFields(root).value ?? {}, null, 2);
  return textInput(text, /^[{[]?\s*/.exec(text)?.[0].length ?? 0);
}
