import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/validate.js';
import { jsonFault } from '../../../util/json.js';
import { compactJson, cut, isRecord } from '../../../util/json-diagnosis.js';
import { jsonPath } from '../../../util/redact-json.js';
import { nameOf, type Press } from '../../keys.js';
import {
  insert,
  isTextCommand,
  moveLines,
  stepText,
  type TextCommand,
  type TextInput,
} from '../../text-input.js';
import {
  type Child,
  type ChoiceField,
  type Field,
  FieldMaker,
  faultsIn,
  fieldValue,
  type GroupField,
  placeAt,
  readJsonText,
  type VariantsField,
  withExamples,
  withField,
} from './fields.js';

/** The arguments of a call as a person fills them in. Immutable. */
export interface Form {
  /** The `inputSchema`. */
  readonly schema: Schema;
  /** `raw`: all arguments are one JSON text. */
  readonly mode: 'fields' | 'raw';
  readonly root: Field;
  readonly raw: TextInput;
  /** The index of the focused stop; the last stop is `Run`. */
  readonly focus: number;
  /** In the text of the focused field. */
  readonly cursor: number;
  readonly faults: readonly SchemaFault[];
}

/**
 * A form for an `inputSchema`, which may be anything. Without `initial` every default is filled in; with it only a required value that
 * is missing, so that a call's arguments come out unchanged. Arguments that no field can hold open as JSON.
 */
export function formOf(schema: Schema, initial?: Readonly<Record<string, unknown>>): Form {
  const root = new FieldMaker(schema).arguments(initial);
  const form: Form = { schema, mode: 'fields', root, raw: rawOf(root), focus: 0, cursor: 0, faults: [] };
  return hasFields(form) ? focusOn(form, 0) : { ...form, mode: 'raw' };
}

/** The form for an `inputSchema` that may have changed since, with the values that were typed. */
export function reformed(form: Form, schema: Schema): Form {
  if (isDeepStrictEqual(form.schema, schema)) return form;
  const typed = fieldValue(form.root);
  const fresh = formOf(schema, isRecord(typed) ? typed : {});
  return form.mode === 'raw' ? focusOn({ ...fresh, mode: 'raw', raw: form.raw }, 0) : fresh;
}

/** Whether arguments that were reported as wrong have been edited since. */
export function isCorrected(before: Form, after: Form): boolean {
  const isEdited = after.root !== before.root || after.raw.text !== before.raw.text;
  return before.faults.length > 0 && isEdited;
}

export function hasFields({ root: { kind } }: Form): boolean {
  return kind === 'object' || kind === 'variants';
}

function rawOf(root: Field): TextInput {
  return { text: JSON.stringify(fieldValue(root) ?? {}, null, 2), cursor: 0 };
}

/** A row of the form: a field, or the place where an array gets another item. */
export interface Row {
  readonly kind: 'field' | 'add';
  /** Indexes of children, from the root down. */
  readonly address: readonly number[];
  /** A JSON path. */
  readonly path: string;
  readonly depth: number;
  readonly child: Child;
  /** Whether it can have the focus. */
  readonly isStop: boolean;
}

export function rowsOf(root: Field): readonly Row[] {
  const child: Child = { key: null, isRequired: true, isExtra: false, field: root };
  const whole: Row = { kind: 'field', address: [], path: '$', depth: -1, child, isStop: false };
  if (root.kind === 'object') return [...rowsIn(whole)];
  const row: Row = { ...whole, depth: 0, isStop: true };
  return [row, ...rowsIn(row)];
}

function* rowsIn(row: Row): Generator<Row> {
  const { field } = row.child;
  const children = 'children' in field ? field.children : [];
  for (const [index, child] of children.entries()) {
    const inner: Row = {
      kind: 'field',
      address: [...row.address, index],
      path: child.key === null ? row.path : plain(row.path + jsonPath([child.key]).slice(1)),
      depth: row.depth + 1,
      child,
      isStop: isStop(child),
    };
    // Under a variant, an object shows its members only, and a constant nothing.
    if (child.key === null && child.field.kind === 'object') yield* rowsIn({ ...inner, depth: row.depth });
    else if (child.key !== null || !isConstant(child.field)) yield* [inner, ...rowsIn(inner)];
  }
  if (field.kind === 'array' && children.length > 0)
    yield { ...row, kind: 'add', depth: row.depth + 1, isStop: true };
}

function isConstant(field: Field): boolean {
  return field.kind === 'choice' && field.values.length === 1;
}

/** A heading has the focus only where a key does something to it. */
function isStop({ field, isRequired, isExtra }: Child): boolean {
  if (field.kind === 'object') return !isRequired || isExtra;
  return field.kind !== 'array' || field.children.length === 0;
}

function stopsOf({ root, mode }: Form): readonly Row[] {
  return mode === 'raw' ? [] : rowsOf(root).filter(({ isStop }) => isStop);
}

/** None on `Run`, and while the arguments are one JSON text. */
export function focusedRow(form: Form): Row | undefined {
  return stopsOf(form)[form.focus];
}

export function isOnRun(form: Form): boolean {
  return form.focus === (form.mode === 'raw' ? 1 : stopsOf(form).length);
}

/** The form with this stop in focus and the cursor behind its text. */
function focusOn(form: Form, stop: number): Form {
  const stops = stopsOf(form);
  const focus = Math.max(0, Math.min(form.mode === 'raw' ? 1 : stops.length, stop));
  const field = stops[focus]?.child.field;
  return { ...form, focus, cursor: field && 'text' in field ? field.text.length : 0 };
}

/** A key of digits is written in two ways. */
function plain(path: string): string {
  return path.replaceAll(/\["(\d+)"\]/g, '[$1]');
}

/** Finds the row of a fault: the field at its path, or the nearest one above it. */
function rowFinder(rows: readonly Row[]): (fault: SchemaFault) => Row | undefined {
  const byPath = new Map(rows.filter(({ kind }) => kind === 'field').map(row => [row.path, row]));
  return fault => {
    for (let path = plain(fault.path); path !== ''; path = parentOf(path)) {
      const row = byPath.get(path);
      if (row) return row;
    }
    return undefined;
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));
}

/** The messages for each row; those of no row are under undefined. */
export function faultMessages(
  { faults }: Form,
  rows: readonly Row[],
): ReadonlyMap<Row | undefined, readonly string[]> {
  const find = rowFinder(rows);
  const messages = new Map<Row | undefined, string[]>();
  for (const fault of faults) {
    const row = find(fault);
    const rest = plain(fault.path).slice(row?.path.length ?? 0);
    const message = rest === '' || rest === '$' ? fault.message : `${rest} ${fault.message}`;
    messages.set(row, [...(messages.get(row) ?? []), message]);
  }
  return messages;
}

/** The form with what is wrong about it, and the first field with a fault in focus. */
export function withFaults(form: Form, faults: readonly SchemaFault[]): Form {
  const faulty: Form = { ...form, faults };
  if (form.mode === 'raw') return focusOn(faulty, 0);
  const rows = rowsOf(form.root);
  const wrong = new Set(faults.map(rowFinder(rows)));
  const first = rows.findIndex(row => wrong.has(row));
  if (first < 0) return faulty;
  return focusOn(faulty, rows.slice(0, first).filter(({ isStop }) => isStop).length);
}

/** The form with what the schema says besides; not of the examples that stood in for fields with a fault. */
export function withOtherFaults(form: Form, others: readonly SchemaFault[]): Form {
  const examples = form.faults.map(({ path }) => plain(path));
  const own = others.filter(({ path }) => !examples.some(example => isCausedBy(example, plain(path))));
  return own.length === 0 ? form : withFaults(form, [...form.faults, ...own]);
}

/** At the example, in it, or at the list that it is an item of. */
function isCausedBy(example: string, path: string): boolean {
  const isInside = path.startsWith(example) && /^(?:$|[.[])/.test(path.slice(example.length));
  return isInside || path === example.replace(/\[\d+\]$/, '');
}

/** The arguments, or the form with its faults. */
type FormArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly form: Form;
      /** The arguments with examples in place of the faults, for the schema to judge the rest; null where there are none. */
      readonly others: Record<string, unknown> | null;
    };

/**
 * The arguments that were filled in; an empty optional field is left out. Faults are texts that cannot be read and required fields that
 * are empty; the `inputSchema` judges the rest, see `withFaults`.
 * @param demandsRequired false: required fields may be empty too
 */
export function argumentsOf(form: Form, demandsRequired = true): FormArguments {
  if (form.mode === 'raw') return rawArguments(form);
  const whole: Child = { key: null, isRequired: true, isExtra: false, field: form.root };
  const faults = faultsIn(whole, demandsRequired);
  if (faults.length === 0) return accepted(form, fieldValue(form.root));
  return refused(withFaults(form, faults), withExamples(whole, form.schema));
}

function rawArguments(form: Form): FormArguments {
  const { text } = form.raw;
  const read = readJsonText(text);
  if (read.ok) return accepted(form, read.value);
  const fault = jsonFault(text);
  const above = fault ? text.split('\n', fault.line - 1).reduce((sum, line) => sum + line.length + 1, 0) : 0;
  const raw = fault ? { text, cursor: Math.min(text.length, above + fault.column - 1) } : form.raw;
  return refused(withFaults({ ...form, raw }, [{ path: '$', message: read.message }]));
}

function accepted(form: Form, value: unknown): FormArguments {
  if (isRecord(value)) return { ok: true, value };
  return refused(withFaults(form, [{ path: '$', message: 'must be an object' }]));
}

function refused(form: Form, others: unknown = null): FormArguments {
  return { ok: false, form, others: isRecord(others) ? others : null };
}

/** Every key of a form. */
export const FORM_KEYS = [
  formKey('up', 'up', '↑', 'the field above; in JSON the line above'),
  formKey('down', 'down', '↓', 'the field below; in JSON the line below'),
  formKey('next', 'tab', 'Tab', 'the next field'),
  formKey('previous', 'shift+tab', 'Shift-Tab', 'the field before'),
  formKey('enter', 'enter', '⏎', 'the next field; adds where it says so; runs on Run'),
  formKey('left', 'left', '←', 'left in a text; the choice before'),
  formKey('right', 'right', '→ Space', 'right in a text; the next choice'),
  formKey('home', 'home', 'Home', 'start of the text; the first choice'),
  formKey('end', 'end', 'End', 'end of the text; the last choice'),
  formKey('pageUp', 'pageup', 'PgUp', 'ten fields up'),
  formKey('pageDown', 'pagedown', 'PgDn', 'ten fields down'),
  formKey('erase', 'erase', 'Backspace', 'erases a character'),
  formKey('eraseWord', 'ctrl+w', 'Ctrl-W', 'erases a word'),
  formKey('eraseLine', 'ctrl+u', 'Ctrl-U', 'erases up to the start of the line'),
  formKey('newline', '\n ctrl+j', 'Ctrl-J', 'a line break in a text'),
  formKey(
    'remove',
    'ctrl+d',
    'Ctrl-D',
    'removes an item or an optional value; an empty field sends an empty text',
  ),
  formKey('json', 'ctrl+e', 'Ctrl-E', 'all of it as JSON, and back'),
  formKey('run', 'ctrl+r', 'Ctrl-R', 'runs, from any field'),
];

/** @param keys their names, separated by spaces */
function formKey(command: string, keys: string, label: string, does: string) {
  return { place: 'form', command, keys: keys.split(' '), label, does } as const;
}

function commandOf(press: Press): string {
  return FORM_KEYS.find(({ keys }) => keys.includes(nameOf(press)))?.command ?? '';
}

export function isFormKey(press: Press): boolean {
  return commandOf(press) !== '';
}

/** Whether this key starts the call: Enter on `Run`, Ctrl-R anywhere. */
export function wantsRun(form: Form, press: Press): boolean {
  const command = commandOf(press);
  return command === 'run' || (command === 'enter' && isOnRun(form));
}

const MOVES: ReadonlyMap<string, number> = new Map([
  ['up', -1],
  ['down', 1],
  ['previous', -1],
  ['next', 1],
  ['pageUp', -10],
  ['pageDown', 10],
]);

/** The form after a key or a paste. Pure. */
export function pressForm(form: Form, press: Press): Form {
  const command = commandOf(press);
  if (command === 'json') return toggleRaw(form);
  const { input, key } = press;
  const pasted = key.ctrl || key.meta ? '' : input.replaceAll(/\r\n?/g, '\n');
  const typed = command === 'newline' ? '\n' : command === '' ? pasted : '';
  if (form.mode === 'raw') return pressRaw(form, command, typed);
  return typed === '' ? pressFields(form, command) : typeInto(form, typed);
}

/** Text that is no JSON object stays; text that was not edited leaves the fields as they were. */
function toggleRaw(form: Form): Form {
  if (form.mode === 'fields') return focusOn({ ...form, mode: 'raw', raw: rawOf(form.root), faults: [] }, 0);
  if (!hasFields(form)) return form;
  if (form.raw.text === rawOf(form.root).text) return focusOn({ ...form, mode: 'fields', faults: [] }, 0);
  const read = argumentsOf(form);
  return read.ok ? formOf(form.schema, read.value) : read.form;
}

/** The JSON text is the first stop, `Run` the only other one. */
function pressRaw(form: Form, command: string, typed: string): Form {
  if (command === 'next' || command === 'previous') return focusOn(form, command === 'next' ? 1 : 0);
  if (form.focus === 1) return command === 'up' ? focusOn(form, 0) : form;
  const raw = stepRaw(form.raw, command, command === 'enter' ? '\n' : typed);
  return { ...form, raw, faults: raw.text === form.raw.text ? form.faults : [] };
}

function stepRaw(raw: TextInput, command: string, text: string): TextInput {
  if (text !== '') return insert(raw, text);
  const lines = MOVES.get(command);
  if (lines !== undefined) return moveLines(raw, lines);
  return isTextCommand(command) ? stepText(raw, command) : raw;
}

function pressFields(form: Form, command: string): Form {
  const move = MOVES.get(command);
  if (move !== undefined) return focusOn(form, form.focus + move);
  const row = focusedRow(form);
  if (!row) return form;
  if (command === 'enter') return add(form, row) ?? focusOn(form, form.focus + 1);
  if (command === 'remove') return remove(form, row);
  return isTextCommand(command) ? edit(form, row, command) : form;
}

/** The form with another field in a row; the row's faults are gone. */
function replace(form: Form, row: Row, field: Field): Form {
  const find = rowFinder(form.faults.length > 0 ? rowsOf(form.root) : []);
  const faults = form.faults.filter(fault => find(fault)?.path !== row.path);
  return { ...form, root: withField(form.root, row.address, () => field), faults };
}

/** Moves or erases in a text; goes through choices. */
function edit(form: Form, row: Row, command: TextCommand): Form {
  const { field, isRequired } = row.child;
  if ('text' in field) return write(form, row, input => stepText(input, command));
  return 'at' in field ? choose(form, row, stepChoice(field, command, !isRequired)) : form;
}

function write(form: Form, row: Row, change: (input: TextInput) => TextInput): Form {
  const { field } = row.child;
  if (!('text' in field)) return form;
  const { text, cursor } = change({ text: field.text, cursor: form.cursor });
  const moved = { ...form, cursor };
  return text === field.text ? moved : replace(moved, row, { ...field, text });
}

function typeInto(form: Form, typed: string): Form {
  const row = focusedRow(form);
  if (!row || row.kind === 'add') return form;
  const { field } = row.child;
  if ('text' in field) return write(form, row, input => insert(input, typed));
  if (typed === ' ') return edit(form, row, 'right');
  if (field.kind === 'choice') return choose(form, row, startingWith(field, typed));
  if (field.kind !== 'variants') return form;
  // Typing chooses the variant that is a text, or a number where a number is typed.
  const maker = new FieldMaker(form.schema);
  const kinds = field.variants.map(variant => maker.kindOf(variant));
  const at = kinds.indexOf(/^[-\d]/.test(typed) && kinds.includes('number') ? 'number' : 'text');
  return at < 0 ? form : typeInto(focusOn(choose(form, row, at), form.focus + 1), typed);
}

/** The index of the choice after a key. Beyond either end comes no choice where the value is optional, then the other end. */
function stepChoice(
  field: ChoiceField | VariantsField,
  command: TextCommand,
  isOptional: boolean,
): number | null {
  const { length } = field.kind === 'choice' ? field.values : field.variants;
  if (command === 'home') return 0;
  if (command === 'end') return length - 1;
  if (command !== 'left' && command !== 'right') return isOptional ? null : field.at;
  const next = command === 'left' ? (field.at ?? length) - 1 : (field.at ?? -1) + 1;
  if (next >= 0 && next < length) return next;
  return isOptional ? null : (next + length) % length;
}

/** The next choice that starts with a text; the chosen one where none does. */
function startingWith({ values, at }: ChoiceField, typed: string): number | null {
  const matches = (value: unknown) => choiceText(value).toLowerCase().startsWith(typed.toLowerCase());
  const next = values.findIndex((value, index) => index > (at ?? -1) && matches(value));
  const found = next < 0 ? values.findIndex(matches) : next;
  return found < 0 ? at : found;
}

const LONGEST = 200;

/** A value as a choice shows it: a string without its quotes. Foreign. */
export function choiceText(value: unknown): string {
  return cut(typeof value === 'string' ? value : (compactJson(value) ?? ''), LONGEST);
}

function choose(form: Form, row: Row, at: number | null): Form {
  const { field } = row.child;
  if (field.kind === 'choice') return replace(form, row, { ...field, at });
  if (field.kind !== 'variants' || at === field.at) return form;
  if (at === null) return replace(form, row, { ...field, at, children: [] });
  const maker = new FieldMaker(form.schema);
  return replace(form, row, maker.variant(field, at, undefined, placeAt(row.address.length)));
}

/** Adds an item to an array, or an object that is absent. Null where nothing can be added. */
function add(form: Form, row: Row): Form | null {
  const { field } = row.child;
  const maker = new FieldMaker(form.schema);
  if (field.kind === 'array') {
    const place = placeAt(row.address.length + 1);
    const item = maker.item(field.schema, undefined, field.children.length, place);
    const grown: GroupField = { ...field, isPresent: true, children: [...field.children, item] };
    return focusOn(replace(form, row, grown), form.focus); // the item stands where it was added from
  }
  if (field.kind !== 'object' || field.isPresent) return null;
  const opened = maker.field(field.schema, {}, placeAt(row.address.length));
  return focusOn(replace(form, row, opened), form.focus + 1);
}

/** Removes an item or a property that the schema does not name; empties any other field. */
function remove(form: Form, row: Row): Form {
  if (row.child.isExtra && row.kind === 'field') {
    const root = withField(form.root, row.address.slice(0, -1), group => withoutChild(group, row.child));
    return focusOn({ ...form, root, faults: [] }, form.focus);
  }
  const field = emptied(row.child);
  return field ? focusOn(replace(form, row, field), form.focus) : form;
}

function withoutChild(group: Field, child: Child): Field {
  if (!('isPresent' in group)) return group;
  const children = group.children.filter(each => each !== child);
  return {
    ...group,
    children: group.kind === 'array' ? children.map((each, key) => ({ ...each, key })) : children,
  };
}

/** An empty text is sent, or is not; a required choice or group cannot be emptied. */
function emptied({ field, isRequired }: Child): Field | null {
  if (field.kind === 'text')
    return field.text === ''
      ? { ...field, sendsEmpty: !field.sendsEmpty }
      : { ...field, text: '', sendsEmpty: false };
  if ('text' in field) return { ...field, text: '' };
  if (isRequired) return null;
  switch (field.kind) {
    case 'choice':
      return { ...field, at: null };
    case 'variants':
      return { ...field, at: null, children: [] };
    case 'object':
      return { ...field, isPresent: false, children: [] };
    case 'array':
      return field.children.length === 0 ? { ...field, isPresent: !field.isPresent } : null;
  }
}
