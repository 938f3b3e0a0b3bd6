import type { Schema } from '../../../json-schema/example.js';
import { looksLike, type SchemaFault, unlike } from '../../../json-schema/validate.js';
import { type Line, quote, type Span, say, type Tone } from '../../../render/line.js';
import {
  cutLine,
  dressLine,
  fitLine,
  type Theme,
  widthOf,
  wrapLine,
} from '../../../render/terminal/theme.js';
import { cut } from '../../../util/json-diagnosis.js';
import { onceEach } from '../../../util/safe-to-visit.js';
import { quietLine, typedLine } from '../../keys.js';
import type { Size } from '../../terminal.js';
import {
  type ChoiceField,
  type Field,
  type GroupField,
  lineStart,
  type TextField,
  type VariantsField,
} from './field.js';
import {
  choiceWord,
  type Form,
  faultText,
  focusedRow,
  isFillable,
  isOnRun,
  placedFaults,
  type Row,
  rowsOf,
  typeWord,
  variantWord,
} from './rows.js';

/** What can be done in the focused field beyond typing; nothing where that is plain. */
function hintOf({ kind, child }: Row): string {
  const { field, isRequired, isExtra } = child;
  if (kind === 'add') return '⏎ adds an item';
  const out = isExtra ? 'Ctrl-D takes it out' : isRequired ? '' : 'Ctrl-D leaves it out';
  if ('text' in field) return isExtra ? out : emptyHint(field, isRequired);
  if ('at' in field) return together('Space chooses', field.at === null && !isExtra ? '' : out);
  return field.kind === 'object' ? objectHint(field, out) : together('⏎ adds an item', arrayHint(field, out));
}

/** An empty text is nothing, unless it is told to be one. */
function emptyHint({ kind, text, sendsEmpty }: TextField, isRequired: boolean): string {
  if (text !== '') return '';
  if (sendsEmpty) return 'sends "" · Ctrl-D does not';
  return together(isRequired ? '' : 'empty: left out', kind === 'text' ? 'Ctrl-D sends ""' : '');
}

function objectHint({ isPresent }: GroupField, out: string): string {
  return isPresent ? out : together('⏎ adds it', out.startsWith('Ctrl-D takes') ? out : '');
}

function arrayHint({ isPresent }: GroupField, out: string): string {
  return isPresent || out === '' ? out : 'Ctrl-D sends []';
}

function together(...words: readonly string[]): string {
  return words.filter(word => word !== '').join(' · ');
}

/** As much of a description as anybody reads here. */
const LONGEST = 400;

/** What stands below the field in focus: its title and description, what it must be, what its keys do. */
function detailLines(row: Row): readonly Line[] {
  const { schema } = row.child.field;
  const words = [wordsOf(schema, 'title'), wordsOf(schema, 'description')].filter(text => text !== '');
  const about = words.length > 0 ? [quote(words.join(' – '), 'dim')] : [];
  const rules = rulesOf(row);
  return [...about, ...(rules.length > 0 ? [rules] : [])];
}

function wordsOf(schema: Schema, keyword: string): string {
  const words = schema[keyword];
  return typeof words === 'string' ? cut(words.trim(), LONGEST).replaceAll(/\s*\n\s*/g, ' ') : '';
}

function rulesOf(row: Row): Line {
  const { isRequired, isExtra, field } = row.child;
  const required = isRequired && !isExtra ? ['required'] : [];
  const parts = [
    ...required.map(word => [say(word, 'dim')]),
    ...limits(field.schema),
    [say(hintOf(row), 'dim')],
  ];
  return parts
    .filter(part => part.some(({ text }) => text !== ''))
    .flatMap((part, index) => (index === 0 ? part : [say(' · ', 'dim'), ...part]));
}

const LIMITS: readonly (readonly [keyword: string, words: string])[] = [
  ['format', 'format'],
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['multipleOf', 'a multiple of'],
  ['minLength', 'characters from'],
  ['maxLength', 'characters up to'],
  ['pattern', 'pattern'],
  ['minItems', 'items from'],
  ['maxItems', 'items up to'],
];

function limits(schema: Schema): readonly Line[] {
  return LIMITS.flatMap(([keyword, words]) => {
    const limit = schema[keyword];
    const isTold = typeof limit === 'number' || typeof limit === 'string';
    return isTold ? [[say(`${words} `, 'dim'), ...quote(cut(String(limit), 80), 'dim')]] : [];
  });
}

/** What strikes one about a text, though nothing is wrong with it: `format` is an annotation. Foreign words. Null where nothing does. */
const remarkOn = onceEach((field: Field): string | null => {
  const { format } = field.schema;
  const isOfFormat = field.kind === 'text' && field.text !== '' && typeof format === 'string';
  return isOfFormat && !looksLike(field.text, format) ? unlike(format) : null;
});

/** Of one field; the alternatives of an `anyOf` bring many, and none says much alone. */
const MOST = 3;
const FAULT_ROWS_LONGEST = 300;

type Placed = ReadonlyMap<Row | undefined, readonly SchemaFault[]>;

/** What is wrong with a field, below it; with no field, at the top. */
function faultRows(row: Row | undefined, placed: Placed, columns: number, theme: Theme): readonly string[] {
  const faults = placed.get(row) ?? [];
  const indent = row ? ' '.repeat(4) : '  ';
  const mark = say(`${indent}✗ `, 'gutter');
  const told = faults
    .slice(0, MOST)
    .flatMap(fault => toldRows(mark, faultText(row, fault), 'bad', columns, theme));
  const more = faults.length - MOST;
  return more > 0 ? [...told, dressLine([say(`${indent}  and ${more} more`, 'bad')], theme)] : told;
}

/** What strikes one about a field, below it: whoever is in it may not have come to its end. */
function remarkRows({ kind, child }: Row, columns: number, theme: Theme): readonly string[] {
  const remark = kind === 'field' ? remarkOn(child.field) : null;
  return remark === null ? [] : toldRows(say('    • ', 'gutter'), remark, 'warn', columns, theme);
}

function toldRows(mark: Span, words: string, tone: Tone, columns: number, theme: Theme): readonly string[] {
  return wrapLine([mark, ...quote(cut(words, FAULT_ROWS_LONGEST), tone)], columns, theme).slice(0, MOST);
}

/** What is in a field; `cursor` is null unless it is in focus. */
function valueLine(row: Row, cursor: number | null, width: number): Line {
  const { field } = row.child;
  if (row.kind === 'add') return [];
  if ('text' in field) return textLine(field, cursor, width);
  return 'at' in field ? choiceLine(field, cursor !== null) : groupLine(field, cursor !== null);
}

function textLine(field: TextField, cursor: number | null, width: number): Line {
  const { text, sendsEmpty } = field;
  if (text === '' && sendsEmpty) return [...(cursor === null ? [] : [say(' ', 'cursor')]), say('""', 'dim')];
  if (cursor !== null) return typedLine({ text, cursor }, width);
  return quietLine(text, width);
}

/** Of what can be chosen, what was; arrows say that there is more to come by. */
function choiceLine(field: ChoiceField | VariantsField, isFocused: boolean): Line {
  const { at } = field;
  const count = field.kind === 'choice' ? field.values.length : field.variants.length;
  const word = at === null ? [say('–', 'dim')] : wordOf(field, at, isFocused);
  const place = at === null || count <= 2 ? [] : [say(`  ${at + 1} of ${count}`, 'dim')];
  return [
    say('‹ ', isFocused ? 'running' : 'dim'),
    ...word,
    say(' ›', isFocused ? 'running' : 'dim'),
    ...place,
  ];
}

function wordOf(field: ChoiceField | VariantsField, at: number, isFocused: boolean): Line {
  const tone = isFocused ? 'title' : 'plain';
  const word = field.kind === 'choice' ? choiceWord(field.values[at]) : variantWord(field.variants[at] ?? {});
  return word === '' ? [say('""', 'dim')] : quote(word, tone);
}

function groupLine({ kind, isPresent, children }: GroupField, isFocused: boolean): Line {
  const add = say('+ add', isFocused ? 'running' : 'dim');
  if (kind === 'object') return isPresent ? [] : [add];
  if (children.length > 0)
    return [say(`${children.length} ${children.length === 1 ? 'item' : 'items'}`, 'dim')];
  return isPresent ? [say('[]  ', 'dim'), add] : [add];
}

/** How wide the columns of all rows are, in cells. */
interface Grid {
  readonly columns: number;
  readonly label: number;
}

const MARK = '❯ ';
const GAP = 2;
/** Below this a value has no room beside its type. */
const NARROW = 60;
const LONGEST_LABEL = 60;

/** Labels as wide as the widest, up to a third of the row. */
function gridOf(rows: readonly Row[], columns: number): Grid {
  const widest = rows.reduce((most, row) => Math.max(most, widthOf(labelOf(row, columns))), 0);
  return { columns, label: Math.max(4, Math.min(widest, Math.floor((columns - MARK.length) / 3))) };
}

/** A field on one row: its name, what is in it, what it takes. `cursor` is null unless it is in focus. */
function rowLine(row: Row, cursor: number | null, grid: Grid): Line {
  const isFocused = cursor !== null;
  const mark = say(isFocused ? MARK : ' '.repeat(MARK.length), 'running');
  const type = grid.columns < NARROW ? [] : typeLine(row, Math.floor(grid.columns / 4));
  const room = grid.columns - MARK.length - grid.label - GAP - (type.length > 0 ? widthOf(type) + GAP : 0);
  const label = fitLine(labelOf(row, grid.label, isFocused), grid.label);
  const value = fitLine(valueLine(row, cursor, Math.max(1, room)), Math.max(1, room));
  const tail = type.length > 0 ? [say(' '.repeat(GAP)), ...type] : [];
  return cutLine([mark, ...label, say(' '.repeat(GAP)), ...value, ...tail], grid.columns);
}

/** A name is cut; that it is required is seen all the same. */
function labelOf({ kind, depth, child, address }: Row, width: number, isFocused = false): Line {
  const indent = say('  '.repeat(depth));
  if (kind === 'add') return [indent, say('+ add', isFocused ? 'running' : 'dim')];
  const own = child.key ?? (address.length === 0 ? 'arguments' : variantWord(child.field.schema));
  const name = quote(cut(String(own), LONGEST_LABEL), isFocused ? 'title' : 'plain');
  const star = child.isRequired && !child.isExtra && child.key !== null ? [say('*', 'warn')] : [];
  return [...cutLine([indent, ...name], width - star.length), ...star];
}

function typeLine({ kind, child }: Row, width: number): Line {
  return kind === 'add' ? [] : cutLine(quote(typeWord(child.field), 'dim'), width);
}

interface Drawing {
  readonly form: Form;
  readonly fields: readonly Row[];
  readonly placed: Placed;
}

const NOTHING: Line = [say('  It names no arguments; Ctrl-E writes some as JSON.', 'dim')];

/** A row of details may be long; more of it is cut. */
const MOST_DETAILS = 4;

/** The fields around the focus, which is in the middle save at either end. Only what can be seen is laid out. */
function fieldRows(
  { form, fields, placed }: Drawing,
  { columns, rows }: Size,
  theme: Theme,
): readonly string[] {
  if (fields.length === 0) return [dressLine(cutLine(NOTHING, columns), theme)].slice(0, rows);
  const grid = gridOf(fields, columns);
  const focused = focusedRow(form);
  const isFocused = ({ address, kind }: Row) =>
    kind === focused?.kind && String(address) === String(focused.address);
  const at = focused ? fields.findIndex(isFocused) : fields.length;
  const blockOf = (row: Row, index: number) => [
    dressLine(rowLine(row, index === at ? form.cursor : null, grid), theme),
    ...faultRows(row, placed, columns, theme),
    ...(index === at ? detailRows(row, columns, theme) : remarkRows(row, columns, theme)),
  ];
  const near = (from: number, to: number) =>
    fields.slice(Math.max(0, from), to).flatMap((row, index) => blockOf(row, Math.max(0, from) + index));
  return around(near(at - rows, at), near(at, at + 1), near(at + 1, at + 1 + rows), rows);
}

/** As much of what is above and below as there is room for beside the middle. */
function around(
  above: readonly string[],
  middle: readonly string[],
  below: readonly string[],
  rows: number,
): readonly string[] {
  const left = Math.max(0, rows - middle.length);
  const forAbove = Math.min(above.length, Math.max(Math.floor(left / 2), left - below.length));
  const shown = forAbove === 0 ? [] : above.slice(-forAbove);
  return [...shown, ...middle, ...below].slice(0, rows);
}

function detailRows(row: Row, columns: number, theme: Theme): readonly string[] {
  const indent = say(' '.repeat(4), 'gutter');
  return detailLines(row).flatMap(line => wrapLine([indent, ...line], columns, theme).slice(0, MOST_DETAILS));
}

const NO_WAY_BACK = say('As JSON: its schema describes no fields, or more than a form holds.', 'dim');
const WAY_BACK = say('As JSON: Ctrl-E goes back to the fields.', 'dim');

/** JSON written by hand: the lines around the cursor. */
function rawRows({ raw, focus, root }: Form, { columns, rows }: Size, theme: Theme): readonly string[] {
  const head = dressLine(cutLine([isFillable(root) ? WAY_BACK : NO_WAY_BACK], columns), theme);
  const height = Math.max(0, rows - 1);
  const lines = raw.text.split('\n');
  const at = raw.text.slice(0, raw.cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  const column = raw.cursor - lineStart(raw);
  const seen = lines.slice(from, from + height).map((text, index) => {
    const isTyped = from + index === at && focus === 0;
    return dressLine(
      isTyped ? typedLine({ text, cursor: column }, columns) : quietLine(text, columns),
      theme,
    );
  });
  return [head, ...seen].slice(0, rows);
}

/** So many are seen at a glance; of more it is told where one stands. */
const FEW = 10;

/** The last stop, where Enter makes the call; beside it how far one is, and how much is wrong. */
function runRow(form: Form, fields: readonly Row[], columns: number, theme: Theme): string {
  const isFocused = isOnRun(form);
  const mark = say(isFocused ? MARK : ' '.repeat(MARK.length), 'running');
  const run = say('▶ Run', isFocused ? 'title' : 'plain');
  return dressLine(cutLine([mark, run, ...placeOf(form, fields), ...faultsOf(form)], columns), theme);
}

function placeOf({ focus }: Form, fields: readonly Row[]): Line {
  const stops = fields.filter(({ isStop }) => isStop).length;
  return stops > FEW && focus < stops ? [say(`   field ${focus + 1} of ${stops}`, 'dim')] : [];
}

function faultsOf({ faults: { length } }: Form): Line {
  return length === 0 ? [] : [say(`   ${length} ${length === 1 ? 'fault' : 'faults'}`, 'bad')];
}

/** Rows from which on a blank one sets `Run` apart. */
const ROOMY = 12;

/**
 * A form as rows of the terminal, at most `rows` of them: what is wrong as a whole, the fields around the focus, `Run`.
 * No row is wider than `columns`; all foreign words are made visible (threats, row 24).
 */
export function drawForm(
  form: Form,
  { columns, rows }: Size,
  theme: Theme,
): { readonly rows: readonly string[] } {
  const fields = form.mode === 'raw' ? [] : rowsOf(form.root);
  const placed = placedFaults(fields, form.faults);
  const top = faultRows(undefined, placed, columns, theme).slice(0, Math.floor(rows / 3));
  const foot = [...(rows >= ROOMY ? [''] : []), runRow(form, fields, columns, theme)];
  const size = { columns, rows: Math.max(0, rows - top.length - foot.length) };
  const body =
    form.mode === 'raw' ? rawRows(form, size, theme) : fieldRows({ form, fields, placed }, size, theme);
  return { rows: [...top, ...body, ...foot].slice(-Math.max(1, rows)) };
}
