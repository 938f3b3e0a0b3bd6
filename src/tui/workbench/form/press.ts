import type { Schema } from '../../../json-schema/example.js';
import type { Press } from '../../keys.js';
import {
  EDITING_KEYS,
  editText,
  insertText,
  moveLines,
  type TextInput,
  textInput,
} from '../../text-input.js';
import { choiceText, type Field, FieldMaker, KINDS } from './fields.js';
import {
  type FormState,
  focusedRow,
  focusOn,
  formArguments,
  formOf,
  formRows,
  hasFields,
  isOnRun,
  rawOf,
} from './form.js';
import { type Row, rowFinder } from './rows.js';

/** The keys that do something else than in other texts, if the focus is not on a text. */
const CHOOSING_KEYS = [
  ['left', 'left in a text; the choice before'],
  ['right', 'right in a text; the next choice, as Space does'],
  ['home ctrl+a', 'to the start of the line; the first choice'],
  ['end ctrl+e', 'to the end of the line; the last choice'],
] as const;

const CHOOSING: ReadonlySet<string> = new Set(CHOOSING_KEYS.map(([keys]) => keys));

/** Every key of a form (names, separated by spaces), with what it does. */
export const FORM_KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['up', 'the field above; in JSON the line above'],
  ['down', 'the field below; in JSON the line below'],
  ['tab', 'the next field'],
  ['shift+tab', 'the field before'],
  ['enter', 'the next field; adds where it says so; runs on Run'],
  ['pageup', 'ten fields up'],
  ['pagedown', 'ten fields down'],
  ...CHOOSING_KEYS,
  ...EDITING_KEYS.filter(({ keys }) => !CHOOSING.has(keys)).map(({ keys, does }) => [keys, does] as const),
  ['ctrl+j', 'a line break in a text'],
  ['ctrl+d', 'removes an item or an optional value; an empty field sends an empty text'],
  ['ctrl+o', 'all of it as JSON, and back'],
  ['ctrl+r', 'runs, from any field'],
];

/** Steps of the keys, in focusable rows or lines of JSON. */
const MOVES: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  'shift+tab': -1,
  tab: 1,
  pageup: -10,
  pagedown: 10,
};

/** Whether this key starts the call: Enter on `Run`, Ctrl-R anywhere. */
export function wantsRun(form: FormState, { name }: Press): boolean {
  return name === 'ctrl+r' || (name === 'enter' && isOnRun(form));
}

/** The form after a key, or after a typed text. */
export function pressForm(form: FormState, { name, text }: Press): FormState {
  if (name === 'ctrl+o') return toggleRaw(form);
  const typed = name === 'ctrl+j' ? '\n' : text.replaceAll(/\r\n?/g, '\n');
  if (form.mode === 'raw') return pressRaw(form, name, typed);
  return typed === '' ? pressField(form, name) : type(form, typed);
}

/** Switches between fields and JSON text. Text that is not a JSON object stays. */
function toggleRaw(form: FormState): FormState {
  const { mode, root, schema } = form;
  if (mode === 'fields') return focusOn({ ...form, mode: 'raw', raw: rawOf(root), faults: [] }, 0);
  if (!hasFields(form)) return form;
  const read = formArguments(form);
  return read.ok ? formOf(schema, read.value, 'none') : read.form;
}

function pressRaw(form: FormState, key: string, typed: string): FormState {
  if (key === 'tab' || key === 'shift+tab') return focusOn(form, key === 'tab' ? 1 : 0);
  if (isOnRun(form)) return key === 'up' ? focusOn(form, 0) : form;
  const raw = rawAfter(form.raw, key, key === 'enter' ? '\n' : typed);
  return { ...form, raw, faults: raw.text === form.raw.text ? form.faults : [] };
}

function rawAfter(raw: TextInput, key: string, typed: string): TextInput {
  if (typed !== '') return insertText(raw, typed);
  const lines = MOVES[key];
  return lines === undefined ? editText(raw, key) : moveLines(raw, lines);
}

function pressField(form: FormState, key: string): FormState {
  const { focus } = form;
  const move = MOVES[key];
  const row = focusedRow(form);
  if (move !== undefined) return focusOn(form, focus + move);
  if (!row) return form;
  if (key === 'enter') return add(form, row) ?? focusOn(form, focus + 1);
  if (key === 'ctrl+d') return remove(form, row);
  const { input } = KINDS[row.field.kind];
  if (input === 'typed') return write(form, row, text => editText(text, key));
  return input === 'chosen' ? choose(form, row, stepChoice(row.field, key)) : form;
}

function write(form: FormState, row: Row, change: (input: TextInput) => TextInput): FormState {
  const { field } = row;
  const { text, cursor } = change(textInput(field.text, form.cursor));
  const moved = { ...form, cursor };
  return text === field.text ? moved : replace(moved, row, { text });
}

function type(form: FormState, typed: string): FormState {
  const row = focusedRow(form);
  if (!row || row.kind === 'add') return form;
  const { field } = row;
  const { input } = KINDS[field.kind];
  if (input === 'typed') return write(form, row, text => insertText(text, typed));
  if (input === 'group') return form;
  if (typed === ' ') return choose(form, row, stepChoice(field, 'right'));
  if (field.kind === 'choice') return choose(form, row, startingWith(field, typed));
  // Typing selects the variant for a string, or for a number if a digit is typed.
  const kinds = field.options.map(variant => new FieldMaker(form.schema).kindOf(variant as Schema));
  const at = kinds.indexOf(/^[-\d]/.test(typed) && kinds.includes('number') ? 'number' : 'text');
  return at < 0 ? form : type(focusOn(choose(form, row, at), form.focus + 1), typed);
}

function choose(form: FormState, row: Row, at: number | null): FormState {
  const { field } = row;
  if (at === field.at) return form;
  const hasChild = field.kind === 'variants' && at !== null;
  const children = hasChild ? [new FieldMaker(form.schema).variant(field.options[at])] : [];
  return replace(form, row, { at, children });
}

/** Adds an item to an array, or adds an absent object. Null if nothing can be added. */
function add(form: FormState, row: Row): FormState | null {
  const { field } = row;
  const { focus, schema } = form;
  const maker = new FieldMaker(schema);
  if (field.kind === 'object' && !field.isPresent)
    return focusOn(replace(form, row, maker.added(field)), focus + 1);
  if (field.kind !== 'array') return null;
  const children = [...field.children, maker.item(field.schema, field.children.length)];
  return focusOn(replace(form, row, { isPresent: true, children }), focus);
}

/** Removes an item or a property that is not in the schema; empties any other field. */
function remove(form: FormState, row: Row): FormState {
  const { focus, root } = form;
  if (row.field.isExtra && row.kind === 'field') {
    const rest = withField(root, row.address.slice(0, -1), group => withoutChild(group, row.field));
    return focusOn({ ...form, root: rest, faults: [] }, focus);
  }
  const empty = emptied(row.field);
  return empty ? focusOn(replace(form, row, empty), focus) : form;
}

/** Changes a row and removes its faults. */
function replace(form: FormState, { address, path }: Row, change: Partial<Field>): FormState {
  const root = withField(form.root, address, field => ({ ...field, ...change }));
  const find = rowFinder(formRows(form));
  return { ...form, root, faults: form.faults.filter(fault => find(fault)?.path !== path) };
}

/** Changes the field at an address (indexes of children, from the root down). */
function withField(root: Field, address: readonly number[], change: (field: Field) => Field): Field {
  const [first, ...rest] = address;
  if (first === undefined) return change(root);
  const children = root.children.map((child, index) =>
    index === first ? withField(child, rest, change) : child,
  );
  return { ...root, children };
}

function withoutChild(group: Field, child: Field): Field {
  const children = group.children.filter(each => each !== child);
  return group.kind === 'array'
    ? { ...group, children: children.map((each, key) => ({ ...each, key })) }
    : { ...group, children };
}

/** The emptied field, if it can be emptied: not a required choice or group, nor an array with items. */
function emptied({ kind, text, isPresent, isRequired, children }: Field): Partial<Field> | null {
  if (KINDS[kind].input === 'typed')
    return { text: '', isPresent: kind === 'text' && text === '' && !isPresent };
  if (isRequired) return null;
  if (kind !== 'array') return { at: null, isPresent: false, children: [] };
  return children.length === 0 ? { isPresent: !isPresent } : null;
}

/** The index of the choice after a key. After the last choice comes the empty one, if the value is optional, then the first. */
function stepChoice({ at, options, isRequired }: Field, key: string): number | null {
  const { length } = options;
  const [first, last] = isRequired ? [0, length - 1] : [null, null];
  switch (key) {
    case 'home':
    case 'ctrl+a':
      return 0;
    case 'end':
    case 'ctrl+e':
      return length - 1;
    case 'left':
      return at === 0 ? last : (at ?? length) - 1;
    case 'right':
      return at === length - 1 ? first : (at ?? -1) + 1;
    case 'erase':
    case 'delete':
    case 'ctrl+w':
    case 'ctrl+u':
      return isRequired ? at : null;
    default:
      return at;
  }
}

/** The next choice that starts with a text; without one, the current choice. */
function startingWith({ options, at }: Field, typed: string): number | null {
  const matches = (value: unknown) => choiceText(value).toLowerCase().startsWith(typed.toLowerCase());
  const next = options.findIndex((value, index) => index > (at ?? -1) && matches(value));
  const found = next < 0 ? options.findIndex(matches) : next;
  return found < 0 ? at : found;
}
