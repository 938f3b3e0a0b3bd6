import { cut } from '../../../util/text.js';
import { compactJson } from '../../../util/values.js';
import { nameOf, type Press } from '../../keys.js';
import { TextInput } from '../../text-input.js';
import { type Child, type ChoiceField, type Field, FieldMaker, type VariantsField } from './fields.js';
import type { Form, Row } from './form.js';

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

/** The command of a key; empty where the key types, or does nothing. */
export function formCommandOf(press: Press): string {
  return FORM_KEYS.find(({ keys }) => keys.includes(nameOf(press)))?.command ?? '';
}

/** Whether this key starts the call: Enter on `Run`, Ctrl-R anywhere. */
export function wantsRun(form: Form, press: Press): boolean {
  const command = formCommandOf(press);
  return command === 'run' || (command === 'enter' && form.isOnRun);
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
  const command = formCommandOf(press);
  if (command === 'json') return form.toggleRaw();
  const { input, key } = press;
  const pasted = key.ctrl || key.meta ? '' : input.replaceAll(/\r\n?/g, '\n');
  const typed = command === 'newline' ? '\n' : command === '' ? pasted : '';
  if (form.state.mode === 'raw') return pressRaw(form, command, typed);
  return typed === '' ? pressFields(form, command) : typeInto(form, typed);
}

function pressRaw(form: Form, command: string, typed: string): Form {
  if (command === 'next' || command === 'previous') return form.focusOn(command === 'next' ? 1 : 0);
  if (form.isOnRun) return command === 'up' ? form.focusOn(0) : form;
  const { raw: before, faults } = form.state;
  const text = command === 'enter' ? '\n' : typed;
  const lines = MOVES.get(command);
  const raw =
    text !== '' ? before.insert(text) : lines === undefined ? before.step(command) : before.moveLines(lines);
  return form.with({ raw, faults: raw.text === before.text ? faults : [] });
}

function pressFields(form: Form, command: string): Form {
  const { focus } = form.state;
  const move = MOVES.get(command);
  if (move !== undefined) return form.focusOn(focus + move);
  const row = form.focusedRow;
  if (!row) return form;
  if (command === 'enter') return add(form, row) ?? form.focusOn(focus + 1);
  if (command === 'remove') return remove(form, row);
  return edit(form, row, command);
}

/** The form with another field in a row, whose faults are gone. */
function replace(form: Form, row: Row, field: Field): Form {
  const root = withField(form.state.root, row.address, () => field);
  return form.withoutFaultsOf(row).with({ root });
}

/** The tree with the field at an address (indexes of children, from the root down) changed. */
export function withField(root: Field, address: readonly number[], change: (field: Field) => Field): Field {
  const [first, ...rest] = address;
  if (first === undefined) return change(root);
  if (!('children' in root)) return root;
  const children = root.children.map((child, index) =>
    index === first ? { ...child, field: withField(child.field, rest, change) } : child,
  );
  return { ...root, children };
}

/** Moves or erases in a text; goes through choices. */
function edit(form: Form, row: Row, command: string): Form {
  const { field, isRequired } = row.child;
  if ('text' in field) return write(form, row, input => input.step(command));
  return 'at' in field ? choose(form, row, stepChoice(field, command, !isRequired)) : form;
}

function write(form: Form, row: Row, change: (input: TextInput) => TextInput): Form {
  const { field } = row.child;
  if (!('text' in field)) return form;
  const { text, cursor } = change(new TextInput(field.text, form.state.cursor));
  const moved = form.with({ cursor });
  return text === field.text ? moved : replace(moved, row, { ...field, text });
}

function typeInto(form: Form, typed: string): Form {
  const row = form.focusedRow;
  if (!row || row.kind === 'add') return form;
  const { field } = row.child;
  if ('text' in field) return write(form, row, input => input.insert(typed));
  if (typed === ' ') return edit(form, row, 'right');
  if (field.kind === 'choice') return choose(form, row, startingWith(field, typed));
  if (field.kind !== 'variants') return form;
  // Typing chooses the variant that is a text, or a number where a number is typed.
  const maker = new FieldMaker(form.schema);
  const kinds = field.variants.map(variant => maker.kindOf(variant));
  const at = kinds.indexOf(/^[-\d]/.test(typed) && kinds.includes('number') ? 'number' : 'text');
  return at < 0 ? form : typeInto(choose(form, row, at).focusOn(form.state.focus + 1), typed);
}

/** The index of the choice after a key. Beyond either end comes no choice where the value is optional, then the other end. */
function stepChoice(field: ChoiceField | VariantsField, command: string, isOptional: boolean): number | null {
  const { length } = field.kind === 'choice' ? field.values : field.variants;
  if (command === 'home') return 0;
  if (command === 'end') return length - 1;
  if (command.startsWith('erase')) return isOptional ? null : field.at;
  if (command !== 'left' && command !== 'right') return field.at;
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
  return replace(form, row, new FieldMaker(form.schema).variant(field, at));
}

/** Adds an item to an array, or an object that is absent. Null where nothing can be added. */
function add(form: Form, row: Row): Form | null {
  const { field } = row.child;
  const { focus } = form.state;
  const maker = new FieldMaker(form.schema);
  if (field.kind === 'array') {
    const children = [...field.children, maker.item(field.schema, field.children.length)];
    return replace(form, row, { ...field, isPresent: true, children }).focusOn(focus);
  }
  if (field.kind !== 'object' || field.isPresent) return null;
  return replace(form, row, maker.field(field.schema, {})).focusOn(focus + 1);
}

/** Removes an item or a property that the schema does not name; empties any other field. */
function remove(form: Form, row: Row): Form {
  const { focus, root } = form.state;
  if (row.child.isExtra && row.kind === 'field') {
    const rest = withField(root, row.address.slice(0, -1), group => withoutChild(group, row.child));
    return form.with({ root: rest, faults: [] }).focusOn(focus);
  }
  const field = emptied(row.child);
  return field ? replace(form, row, field).focusOn(focus) : form;
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
