import { recordOf, type Schema } from '../../../json-schema/example.js';
import { looksLike, unlike } from '../../../json-schema/faults.js';
import { type Line, quote, type Span, say, type Tone } from '../../../render/line.js';
import {
  cutLine,
  dressLine,
  fitLine,
  type Theme,
  widthOf,
  wrapLine,
} from '../../../render/terminal/theme.js';
import { onceEach } from '../../../util/collections.js';
import { cut } from '../../../util/text.js';
import type { Size } from '../../terminal.js';
import { quietLine, TextInput, typedLine } from '../../text-input.js';
import { choiceText } from './edit.js';
import type { Child, ChoiceField, Field, GroupField, TextField, VariantsField } from './fields.js';
import type { Form, Row } from './form.js';

/** Characters of a title with its description, a limit, a label, a type, a message. */
const LONGEST = { about: 400, limit: 80, label: 60, type: 200, message: 300 };

/** Rows of one description or message, and messages of one field. */
const MOST = { rows: 4, messageRows: 3, messages: 3 };

/** From so many rows on a blank one sets `Run` apart. */
const ROOMY = 12;

/** Below so many columns a value has no room beside its type. */
const NARROW = 60;

/** With more stops than these, `Run` shows which one has the focus. */
const FEW_STOPS = 10;

const MARK = '❯ ';

const GAP = say('  ');

/**
 * A form as at most `rows` rows of the terminal: the faults of the whole, the fields around the focus, `Run`. No row is wider than
 * `columns`, and all foreign text is made visible (threats, row 24).
 */
export function drawForm(form: Form, { columns, rows }: Size, theme: Theme): readonly string[] {
  const fields = form.rows;
  const messages = form.messages(fields);
  const top = messageRows(messages.get(undefined), '  ', columns, theme).slice(0, Math.floor(rows / 3));
  const run = dressLine(cutLine(runLine(form, fields), columns), theme);
  const foot = rows >= ROOMY ? ['', run] : [run];
  const size = { columns, rows: Math.max(0, rows - top.length - foot.length) };
  const body =
    form.state.mode === 'raw' ? rawRows(form, size, theme) : fieldRows(form, fields, messages, size, theme);
  return [...top, ...body, ...foot].slice(-Math.max(1, rows));
}

/** `Run`, which field has the focus, and how many faults there are. */
function runLine(form: Form, fields: readonly Row[]): Line {
  const { focus, faults } = form.state;
  const isFocused = form.isOnRun;
  const stops = fields.filter(({ isStop }) => isStop).length;
  const place = stops > FEW_STOPS && focus < stops ? `   field ${focus + 1} of ${stops}` : '';
  const count = faults.length === 0 ? '' : `   ${counted(faults.length, 'fault')}`;
  return [mark(isFocused), say('▶ Run', isFocused ? 'title' : 'plain'), say(place, 'dim'), say(count, 'bad')];
}

function mark(isFocused: boolean): Span {
  return say(isFocused ? MARK : ' '.repeat(MARK.length), 'running');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** JSON that is typed: the lines around the cursor. */
function rawRows(form: Form, { columns, rows }: Size, theme: Theme): readonly string[] {
  const { raw, focus } = form.state;
  const about = form.hasFields
    ? 'As JSON: Ctrl-E goes back to the fields.'
    : 'As JSON: its schema describes no fields, or more than a form holds.';
  const height = Math.max(0, rows - 1);
  const lines = raw.text.split('\n');
  const at = raw.text.slice(0, raw.cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  const cursor = raw.cursor - raw.lineStart;
  const seen = lines.slice(from, from + height).map((text, index) => {
    const hasCursor = from + index === at && focus === 0;
    return hasCursor ? typedLine(new TextInput(text, cursor), columns) : quietLine(text, columns);
  });
  return [cutLine([say(about, 'dim')], columns), ...seen].map(line => dressLine(line, theme)).slice(0, rows);
}

/** The fields around the focus, which is in the middle except at either end. Only rows that may be seen are laid out. */
function fieldRows(
  form: Form,
  fields: readonly Row[],
  messages: ReturnType<Form['messages']>,
  { columns, rows }: Size,
  theme: Theme,
): readonly string[] {
  if (fields.length === 0) {
    const words = say('  It names no arguments; Ctrl-E writes some as JSON.', 'dim');
    return [dressLine(cutLine([words], columns), theme)].slice(0, rows);
  }
  const widest = Math.max(...fields.map(row => widthOf(labelLine(row, columns))));
  const label = Math.max(4, Math.min(widest, Math.floor((columns - MARK.length) / 3)));
  const focused = form.focusedRow;
  const at = focused
    ? fields.findIndex(
        ({ address, kind }) => kind === focused.kind && String(address) === String(focused.address),
      )
    : fields.length;
  const blockOf = (row: Row, isFocused: boolean) => [
    dressLine(rowLine(row, isFocused ? form.state.cursor : null, { columns, label }), theme),
    ...messageRows(messages.get(row), ' '.repeat(4), columns, theme),
    ...(isFocused ? detailRows(row, columns, theme) : remarkRows(row, columns, theme)),
  ];
  const near = (from: number, to: number) =>
    fields.slice(Math.max(0, from), to).flatMap(row => blockOf(row, row === fields[at]));
  return around(near(at - rows, at), near(at, at + 1), near(at + 1, at + 1 + rows), rows);
}

/** As many rows above and below the middle as there is room for. */
function around(
  above: readonly string[],
  middle: readonly string[],
  below: readonly string[],
  rows: number,
): readonly string[] {
  const left = Math.max(0, rows - middle.length);
  const forAbove = Math.min(above.length, Math.max(Math.floor(left / 2), left - below.length));
  return [...above.slice(above.length - forAbove), ...middle, ...below].slice(0, rows);
}

/** Messages below a field, the first of many. */
function messageRows(
  messages: readonly string[] = [],
  indent: string,
  columns: number,
  theme: Theme,
): readonly string[] {
  const rows = messages
    .slice(0, MOST.messages)
    .flatMap(message => wordRows(`${indent}✗ `, message, 'bad', columns, theme));
  const more = messages.length - MOST.messages;
  return more > 0 ? [...rows, dressLine([say(`${indent}  and ${more} more`, 'bad')], theme)] : rows;
}

function wordRows(mark: string, words: string, tone: Tone, columns: number, theme: Theme): readonly string[] {
  const line = [say(mark, 'gutter'), ...quote(cut(words, LONGEST.message), tone)];
  return wrapLine(line, columns, theme).slice(0, MOST.messageRows);
}

/** `format` is an annotation: a text that does not match it is allowed. It is remarked once the focus is elsewhere. */
function remarkRows({ kind, child }: Row, columns: number, theme: Theme): readonly string[] {
  const remark = kind === 'field' ? remarkOn(child.field) : null;
  return remark === null ? [] : wordRows('    • ', remark, 'warn', columns, theme);
}

const remarkOn = onceEach((field: Field): string | null => {
  const { format } = field.schema;
  if (field.kind !== 'text' || field.text === '' || typeof format !== 'string') return null;
  return looksLike(field.text, format) ? null : unlike(format);
});

/** Below the focused field: its title and description, what it must be, and what its keys do. */
function detailRows(row: Row, columns: number, theme: Theme): readonly string[] {
  const { schema } = row.child.field;
  const about = [schema['title'], schema['description']]
    .filter(text => typeof text === 'string')
    .map(text => cut(text.trim(), LONGEST.about).replaceAll(/\s*\n\s*/g, ' '))
    .filter(text => text !== '');
  const lines = [quote(about.join(' – '), 'dim'), rulesLine(row)].filter(line => line.length > 0);
  return lines.flatMap(line =>
    wrapLine([say(' '.repeat(4), 'gutter'), ...line], columns, theme).slice(0, MOST.rows),
  );
}

function rulesLine(row: Row): Line {
  const { isRequired, isExtra, field } = row.child;
  const hint = hintOf(row);
  const parts = [
    ...(isRequired && !isExtra ? [[say('required', 'dim')]] : []),
    ...limitsOf(field.schema),
    ...(hint === '' ? [] : [[say(hint, 'dim')]]),
  ];
  return parts.flatMap((part, index) => (index === 0 ? part : [say(' · ', 'dim'), ...part]));
}

const LIMITS = {
  format: 'format',
  minimum: 'at least',
  exclusiveMinimum: 'more than',
  maximum: 'at most',
  exclusiveMaximum: 'less than',
  multipleOf: 'a multiple of',
  minLength: 'characters from',
  maxLength: 'characters up to',
  pattern: 'pattern',
  minItems: 'items from',
  maxItems: 'items up to',
};

function limitsOf(schema: Schema): readonly Line[] {
  return Object.entries(LIMITS).flatMap(([keyword, words]) => {
    const limit = schema[keyword];
    if (typeof limit !== 'number' && typeof limit !== 'string') return [];
    return [[say(`${words} `, 'dim'), ...quote(cut(String(limit), LONGEST.limit), 'dim')]];
  });
}

/** What a key does in the field beyond typing. */
function hintOf({ kind, child: { field, isRequired, isExtra } }: Row): string {
  if (kind === 'add') return '⏎ adds an item';
  const canLeaveOut = !isRequired && !isAbsent(field);
  const remove = isExtra ? 'Ctrl-D takes it out' : canLeaveOut ? 'Ctrl-D leaves it out' : '';
  if ('text' in field) return isExtra ? remove : emptyHint(field, isRequired);
  if ('at' in field) return joined('Space chooses', remove);
  if (field.kind === 'object') return joined(field.isPresent ? '' : '⏎ adds it', remove);
  return joined('⏎ adds an item', field.isPresent || isExtra ? remove : 'Ctrl-D sends []');
}

function isAbsent(field: Field): boolean {
  return 'at' in field ? field.at === null : 'isPresent' in field && !field.isPresent;
}

function emptyHint({ kind, text, sendsEmpty }: TextField, isRequired: boolean): string {
  if (text !== '') return '';
  if (sendsEmpty) return 'sends "" · Ctrl-D does not';
  return joined(isRequired ? '' : 'empty: left out', kind === 'text' ? 'Ctrl-D sends ""' : '');
}

function joined(...words: readonly string[]): string {
  return words.filter(word => word !== '').join(' · ');
}

/** A field on one row: its name, its value, its type. `cursor` is null unless it has the focus. */
function rowLine(row: Row, cursor: number | null, widths: { columns: number; label: number }): Line {
  const { columns, label } = widths;
  const isFocused = cursor !== null;
  const hasType = columns >= NARROW && row.kind === 'field';
  const type = hasType ? cutLine(quote(typeText(row.child.field), 'dim'), Math.floor(columns / 4)) : [];
  const tail = type.length > 0 ? [GAP, ...type] : [];
  const room = Math.max(1, columns - MARK.length - label - GAP.text.length - widthOf(tail));
  const name = fitLine(labelLine(row, label, isFocused), label);
  const value = fitLine(valueLine(row, cursor, room), room);
  return cutLine([mark(isFocused), ...name, GAP, ...value, ...tail], columns);
}

/** The name of a field, cut before the mark of a required one. */
function labelLine({ kind, depth, child, address }: Row, width: number, isFocused = false): Line {
  const indent = say('  '.repeat(depth));
  if (kind === 'add') return [indent, say('+ add', isFocused ? 'running' : 'dim')];
  const own = child.key ?? (address.length === 0 ? 'arguments' : variantText(child.field.schema));
  const name = quote(cut(String(own), LONGEST.label), isFocused ? 'title' : 'plain');
  const star = isStarred(child) ? [say('*', 'warn')] : [];
  return [...cutLine([indent, ...name], width - star.length), ...star];
}

function isStarred({ key, isRequired, isExtra }: Child): boolean {
  return isRequired && !isExtra && key !== null;
}

const TYPES = {
  text: ({ format }) => (typeof format === 'string' ? `string ${format}` : 'string'),
  number: ({ type }) => (type === 'integer' ? 'integer' : 'number'),
  json: ({ type }) => (typeof type === 'string' ? `${type} as JSON` : 'JSON'),
  choice: schema => ('const' in schema ? 'const' : 'enum' in schema ? 'enum' : String(schema['type'])),
  object: () => 'object',
  array: ({ items }) => {
    const { type } = recordOf(items);
    return typeof type === 'string' ? `array of ${type}` : 'array';
  },
  variants: () => 'one of',
} satisfies Record<Field['kind'], (schema: Schema) => string>;

/** Foreign. */
function typeText({ kind, schema }: Field): string {
  return cut(TYPES[kind](schema), LONGEST.type);
}

/** The name of a variant: its title, else its constant or type. Foreign. */
function variantText(variant: Schema): string {
  const named = [variant['title'], variant['const'], variant['type']].find(name => typeof name === 'string');
  return cut(String(named ?? 'JSON'), LONGEST.type);
}

function valueLine({ kind, child: { field } }: Row, cursor: number | null, width: number): Line {
  if (kind === 'add') return [];
  if ('text' in field) return textLine(field, cursor, width);
  return 'at' in field ? choiceLine(field, cursor !== null) : groupLine(field, cursor !== null);
}

function textLine({ text, sendsEmpty }: TextField, cursor: number | null, width: number): Line {
  if (text === '' && sendsEmpty) return [...(cursor === null ? [] : [say(' ', 'cursor')]), say('""', 'dim')];
  return cursor === null ? quietLine(text, width) : typedLine(new TextInput(text, cursor), width);
}

/** The chosen value between arrows, and its number among many. */
function choiceLine(field: ChoiceField | VariantsField, isFocused: boolean): Line {
  const { at } = field;
  const { length } = field.kind === 'choice' ? field.values : field.variants;
  const tone = isFocused ? 'running' : 'dim';
  const place = at === null || length <= 2 ? [] : [say(`  ${at + 1} of ${length}`, 'dim')];
  return [say('‹ ', tone), ...chosenLine(field, isFocused), say(' ›', tone), ...place];
}

function chosenLine(field: ChoiceField | VariantsField, isFocused: boolean): Line {
  if (field.at === null) return [say('–', 'dim')];
  const text =
    field.kind === 'choice'
      ? choiceText(field.values[field.at])
      : variantText(field.variants[field.at] ?? {});
  return text === '' ? [say('""', 'dim')] : quote(text, isFocused ? 'title' : 'plain');
}

function groupLine({ kind, isPresent, children }: GroupField, isFocused: boolean): Line {
  const add = say('+ add', isFocused ? 'running' : 'dim');
  if (kind === 'object') return isPresent ? [] : [add];
  if (children.length > 0) return [say(counted(children.length, 'item'), 'dim')];
  return isPresent ? [say('[]  ', 'dim'), add] : [add];
}
