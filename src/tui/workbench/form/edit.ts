import { isDeepStrictEqual } from 'node:util';
import type { Key } from 'ink';
import type { Schema } from '../../../json-schema/example.js';
import { jsonFault } from '../../../util/json.js';
import { isRecord } from '../../../util/json-diagnosis.js';
import {
  type Child,
  type ChoiceField,
  type Field,
  faultsIn,
  type GroupField,
  insert,
  isTyping,
  lineEnd,
  lineStart,
  rawOf,
  readJsonText,
  sketchOf,
  standIn,
  stepTyping,
  type TextField,
  type Typing,
  type TypingCommand,
  unfilled,
  unreadable,
  type VariantsField,
  withField,
} from './field.js';
import { fieldOf, freshSetting, inVariant, itemOf, kindOf } from './field-of-schema.js';
import {
  choiceWord,
  type Form,
  focusedRow,
  focusOn,
  formOf,
  isFillable,
  isOnRun,
  type Press,
  type Row,
  withFaults,
  withoutFaultsAt,
} from './rows.js';

/** Whether what a form with faults holds was changed: what was said of them may not be so any more. */
export function isMending(before: Form, after: Form): boolean {
  const isChanged = after.root !== before.root || after.raw.text !== before.raw.text;
  return before.faults.length > 0 && isChanged;
}

/** The form of an `inputSchema` that may have changed meanwhile, with what was typed; the same one where it has not. */
export function reformed(form: Form, schema: Schema): Form {
  if (isDeepStrictEqual(form.schema, schema)) return form;
  const typed = sketchOf(form.root);
  const fresh = formOf(schema, isRecord(typed) ? typed : {});
  return form.mode === 'raw' ? focusOn({ ...fresh, mode: 'raw', raw: form.raw }, 0) : fresh;
}

/** Which of them is chosen after a key; null is none, which only what is optional can be. */
function step(
  field: ChoiceField | VariantsField,
  command: TypingCommand,
  isOptional: boolean,
): number | null {
  const last = (field.kind === 'choice' ? field.values.length : field.variants.length) - 1;
  if (command === 'home') return 0;
  if (command === 'end') return last;
  if (command === 'left') return around(field.at ?? last + 1, -1, last, isOptional);
  if (command === 'right') return around(field.at ?? -1, 1, last, isOptional);
  return isOptional ? null : field.at;
}

/** Beyond either end comes none, where that may be, then the other end. */
function around(at: number, by: 1 | -1, last: number, isOptional: boolean): number | null {
  const next = at + by;
  if (next >= 0 && next <= last) return next;
  if (isOptional) return null;
  return by > 0 ? 0 : last;
}

/** The next one that starts so; the same where none does. */
function startingWith(field: ChoiceField, typed: string): number | null {
  const { values, at } = field;
  const wanted = typed.toLowerCase();
  const from = (at ?? -1) + 1;
  const isMeant = (value: unknown) => choiceWord(value).toLowerCase().startsWith(wanted);
  const after = values.findIndex((value, index) => index >= from && isMeant(value));
  const first = after < 0 ? values.findIndex(isMeant) : after;
  return first < 0 ? at : first;
}

/** A key in the focused field: moves in its text, or goes through its choices. */
function edit(form: Form, row: Row, command: TypingCommand): Form {
  const { field } = row.child;
  if ('text' in field) return write(form, row, field, typing => stepTyping(typing, command));
  if (!('at' in field)) return form;
  return choose(form, row, step(field, command, !row.child.isRequired));
}

/** Characters for the focused field. */
function type(form: Form, typed: string): Form {
  const row = focusedRow(form);
  if (!row || row.kind === 'add') return form;
  const { field } = row.child;
  if ('text' in field) return write(form, row, field, typing => insert(typing, typed));
  if (typed === ' ') return edit(form, row, 'right');
  if (field.kind === 'choice') return choose(form, row, startingWith(field, typed));
  return field.kind === 'variants' ? typeInto(form, row, field, typed) : form;
}

/** Whoever types where a text is one of the variants means that one. */
function typeInto(form: Form, row: Row, field: VariantsField, typed: string): Form {
  const kinds = field.variants.map(variant => kindOf(variant, form.schema));
  const wanted = /^[-\d]/.test(typed) && kinds.includes('number') ? 'number' : 'text';
  const at = kinds.indexOf(wanted);
  return at < 0 ? form : type(focusOn(choose(form, row, at), form.focus + 1), typed);
}

function write(form: Form, row: Row, field: TextField, change: (typing: Typing) => Typing): Form {
  const { text, cursor } = change({ text: field.text, cursor: form.cursor });
  const moved = { ...form, cursor };
  return text === field.text ? moved : replace(moved, row, { ...field, text });
}

function choose(form: Form, row: Row, at: number | null): Form {
  const { field } = row.child;
  if (field.kind === 'choice') return replace(form, row, { ...field, at });
  if (field.kind !== 'variants' || at === field.at) return form;
  if (at === null) return replace(form, row, { ...field, at, children: [] });
  return replace(form, row, inVariant(field, at, undefined, freshSetting(form.schema, row.path.length)));
}

/** The form with another field in a row; what was wrong there is being mended. */
function replace(form: Form, row: Row, field: Field): Form {
  const root = withField(form.root, row.address, () => field);
  return { ...form, root, faults: withoutFaultsAt(form, row) };
}

type FormCommand =
  | TypingCommand
  | 'up'
  | 'down'
  | 'next'
  | 'previous'
  | 'pageUp'
  | 'pageDown'
  | 'enter'
  | 'newline'
  | 'remove'
  | 'json'
  | 'run';

interface Binding {
  readonly command: FormCommand;
  readonly keys: readonly (keyof Key)[];
  /** A character with Ctrl. */
  readonly ctrl: string;
  /** As it is shown. */
  readonly label: string;
  readonly does: string;
}

const binding = (
  command: FormCommand,
  keys: readonly (keyof Key)[],
  ctrl: string,
  label: string,
  does: string,
): Binding => ({ command, keys, ctrl, label, does });

/** Every key of a form. Ink cannot tell Backspace from Delete where a terminal sends DEL for the first. */
export const FORM_BINDINGS: readonly Binding[] = [
  binding('up', ['upArrow'], '', '↑', 'the field above; in JSON the line above'),
  binding('down', ['downArrow'], '', '↓', 'the field below; in JSON the line below'),
  binding('next', ['tab'], '', 'Tab', 'the next field'),
  binding('previous', [], '', 'Shift-Tab', 'the field before'),
  binding('enter', ['return'], '', '⏎', 'the next field; adds where it says so; runs on Run'),
  binding('left', ['leftArrow'], '', '←', 'left in a text; the choice before'),
  binding('right', ['rightArrow'], '', '→ Space', 'right in a text; the next choice'),
  binding('home', ['home'], '', 'Home', 'start of the text; the first choice'),
  binding('end', ['end'], '', 'End', 'end of the text; the last choice'),
  binding('pageUp', ['pageUp'], '', 'PgUp', 'ten fields up'),
  binding('pageDown', ['pageDown'], '', 'PgDn', 'ten fields down'),
  binding('erase', ['backspace', 'delete'], '', 'Backspace', 'erases a character'),
  binding('eraseWord', [], 'w', 'Ctrl-W', 'erases a word'),
  binding('eraseLine', [], 'u', 'Ctrl-U', 'erases up to the start of the line'),
  binding('newline', [], 'j', 'Ctrl-J', 'a line break in a text'),
  binding(
    'remove',
    [],
    'd',
    'Ctrl-D',
    'removes an item or an optional value; an empty field sends an empty text',
  ),
  binding('json', [], 'e', 'Ctrl-E', 'all of it as JSON, and back'),
  binding('run', [], 'r', 'Ctrl-R', 'runs, from any field'),
];

/** What a key press asks for; null where it types, or means nothing. */
function formCommandOf({ input, key }: Press): FormCommand | null {
  if (key.eventType === 'release') return null;
  if (key.tab && key.shift) return 'previous';
  if (input === '\n') return 'newline';
  const isMeant = ({ keys, ctrl }: Binding) =>
    keys.some(name => key[name] === true) || (key.ctrl && ctrl !== '' && input === ctrl);
  return FORM_BINDINGS.find(isMeant)?.command ?? null;
}

export function isFormKey(press: Press): boolean {
  return formCommandOf(press) !== null;
}

/** What a press types: a paste may be long, and has line breaks as the terminal sends them. */
function typedBy({ input, key }: Press): string {
  if (key.ctrl || key.meta || key.eventType === 'release') return '';
  return input.replaceAll(/\r\n?/g, '\n');
}

/** The arguments, or the form with what is wrong at its fields. */
type FormArguments =
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

/** From the fields to JSON by hand and back. What is no JSON object yet stays, with its fault; what was not touched goes back as it was. */
function toggleRaw(form: Form): Form {
  if (form.mode === 'fields') return focusOn({ ...form, mode: 'raw', raw: rawOf(form.root), faults: [] }, 0);
  if (!isFillable(form.root)) return form;
  if (form.raw.text === rawOf(form.root).text) return focusOn({ ...form, mode: 'fields', faults: [] }, 0);
  const read = argumentsOf(form);
  return read.ok ? formOf(form.schema, read.value) : read.form;
}

/** A key while JSON is written by hand: first the text, and `Run` as the only other stop. */
function pressRaw(form: Form, command: FormCommand | null, typed: string): Form {
  if (command === 'next' || command === 'previous') return focusOn(form, command === 'next' ? 1 : 0);
  if (form.focus === 1) return command === 'up' ? focusOn(form, 0) : form;
  const text = command === 'enter' ? '\n' : typed;
  const raw = text === '' ? moved(form.raw, command) : insert(form.raw, text);
  return raw.text === form.raw.text ? { ...form, raw } : { ...form, raw, faults: [] };
}

const LINES: Readonly<Partial<Record<FormCommand, number>>> = { up: -1, down: 1, pageUp: -10, pageDown: 10 };

function moved(raw: Typing, command: FormCommand | null): Typing {
  const lines = command === null ? undefined : LINES[command];
  if (lines !== undefined) return byLines(raw, lines);
  return isTyping(command) ? stepTyping(raw, command) : raw;
}

/** The same column of another line, as far as there is one. */
function byLines(raw: Typing, count: number): Typing {
  const column = raw.cursor - lineStart(raw);
  let at = raw;
  for (let left = Math.abs(count); left > 0; left--) at = neighbour(at, count < 0);
  const cursor = Math.min(at.cursor + column, lineEnd(at));
  return { ...raw, cursor };
}

/** The start of the line above or below; of its own where there is none. */
function neighbour({ text, cursor }: Typing, isUp: boolean): Typing {
  const start = lineStart({ text, cursor });
  const end = lineEnd({ text, cursor });
  if (isUp) return { text, cursor: start === 0 ? 0 : lineStart({ text, cursor: start - 1 }) };
  return { text, cursor: end === text.length ? start : end + 1 };
}

/** Enter where something can be added: an item, or an object that is not there yet. Null where nothing can be. */
function grow(form: Form, row: Row): Form | null {
  const { field } = row.child;
  if (field.kind === 'array') return addItem(form, row, field);
  if (field.kind !== 'object' || field.isPresent) return null;
  const opened = fieldOf(field.schema, {}, freshSetting(form.schema, row.path.length));
  return focusOn(replace(form, row, opened), form.focus + 1);
}

/** The new item takes the place of the row that added it, and the focus. */
function addItem(form: Form, row: Row, field: GroupField): Form {
  const { length } = field.children;
  const item = itemOf(field.schema, undefined, length, freshSetting(form.schema, row.path.length + 1));
  const grown: GroupField = { ...field, isPresent: true, children: [...field.children, item] };
  return focusOn(replace(form, row, grown), form.focus);
}

/** Takes out an item or a property that the schema does not name; empties what is optional; what is empty already is sent as empty. */
function remove(form: Form, row: Row): Form {
  if (row.child.isExtra && row.kind === 'field') return takeOut(form, row);
  const field = without(row);
  return field ? focusOn(replace(form, row, field), form.focus) : form;
}

function takeOut(form: Form, row: Row): Form {
  const at = row.address.at(-1);
  const root = withField(form.root, row.address.slice(0, -1), group =>
    'isPresent' in group
      ? {
          ...group,
          children: renumbered(
            group,
            group.children.filter((_, index) => index !== at),
          ),
        }
      : group,
  );
  return focusOn({ ...form, root, faults: [] }, form.focus);
}

function renumbered({ kind }: GroupField, children: readonly Child[]): readonly Child[] {
  return kind === 'array' ? children.map((child, key) => ({ ...child, key })) : children;
}

function without({ child: { field, isRequired } }: Row): Field | null {
  if (field.kind === 'text') return emptied(field);
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

function emptied<T extends { readonly text: string; readonly sendsEmpty: boolean }>(field: T): T {
  return field.text === ''
    ? { ...field, sendsEmpty: !field.sendsEmpty }
    : { ...field, text: '', sendsEmpty: false };
}

/** Whether this press asks for the call to be made: Enter on `Run`, Ctrl-R anywhere. */
export function wantsRun(form: Form, press: Press): boolean {
  const command = formCommandOf(press);
  return command === 'run' || (command === 'enter' && isOnRun(form));
}

/** The form after a key. Pure. What arrives in one piece may be a paste; with one line feed, at its end, it is a line and Enter. */
export function pressForm(form: Form, press: Press): Form {
  const [, line] = /^([^\r\n]+)\r$/.exec(press.input) ?? [];
  if (line === undefined || form.mode === 'raw') return pressOne(form, press);
  const typed = pressOne(form, { ...press, input: line });
  return stepFields(typed, 'enter');
}

function pressOne(form: Form, press: Press): Form {
  const command = formCommandOf(press);
  if (command === 'json') return toggleRaw(form);
  const typed = command === 'newline' ? '\n' : command === null ? typedBy(press) : '';
  if (form.mode === 'raw') return pressRaw(form, command, typed);
  return typed === '' ? stepFields(form, command) : type(form, typed);
}

const MOVES: Readonly<Partial<Record<FormCommand, number>>> = {
  up: -1,
  down: 1,
  previous: -1,
  next: 1,
  pageUp: -10,
  pageDown: 10,
};

function stepFields(form: Form, command: FormCommand | null): Form {
  const move = command === null ? undefined : MOVES[command];
  if (move !== undefined) return focusOn(form, form.focus + move);
  const row = focusedRow(form);
  if (!row || command === null) return form;
  if (command === 'enter') return grow(form, row) ?? focusOn(form, form.focus + 1);
  if (command === 'remove') return remove(form, row);
  return isTyping(command) ? edit(form, row, command) : form;
}
