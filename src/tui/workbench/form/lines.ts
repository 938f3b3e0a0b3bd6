import type { Schema } from '../../../json-schema/example.js';
import { FORMATS } from '../../../json-schema/formats.js';
import {
  clipped,
  jsonLine,
  type Line,
  line,
  lineText,
  pluralize,
  quote,
  say,
  type Tone,
} from '../../../render/line.js';
import { cutLine, fitLine, widthOf } from '../../../render/terminal/fit.js';
import { wrapRows } from '../../../render/terminal/wrap.js';
import { memoizeByObject } from '../../../util/collections.js';
import { truncate } from '../../../util/text.js';
import { cursorMark } from '../../layout.js';
import { inputLine, lineStart, quietLine } from '../../text-input.js';
import type { Size } from '../../tty.js';
import { choiceText, type Field, KINDS } from './fields.js';
import {
  type FormState,
  focusableRows,
  focusedRow,
  formMessages,
  formRows,
  hasFields,
  isOnRun,
} from './form.js';
import type { Row } from './rows.js';

/** Maximum number of rows of a description and of a message, of messages per field, and of characters of untrusted texts. */
const MAX = { rows: 4, messageRows: 3, messages: 3, about: 800, limit: 80 };

/** Minimum height for a blank row above `Run`. */
const MIN_ROWS_FOR_GAP = 12;

/** Minimum width for the types beside the values. */
const MIN_COLUMNS_FOR_TYPE = 50;

/** The width of the values does not depend on them, so that nothing moves while the user types. Below `min`, what is beside them gives way. */
const VALUE_WIDTH = { min: 24, max: 40 };

/** With more focusable rows than this, `Run` shows the number of the focused one. */
const FEW_ROWS = 10;

const MARK_WIDTH = 2;

const INDENT = say(' '.repeat(4), 'gutter');

const GAP = say('  ');

interface Columns {
  readonly all: number;
  readonly label: number;
  readonly value: number;
  /** Zero: without types. */
  readonly type: number;
}

/**
 * A form in at most `rows` lines: the faults of the whole form, the fields around the focus, `Run`. No line is wider than `columns`, and
 * untrusted text is safe to print (threats, row 24).
 */
export function formLines(form: FormState, { columns, rows }: Size): readonly Line[] {
  const messages = formMessages(form);
  const top = messageLines(messages.get(undefined), columns, GAP).slice(0, Math.floor(rows / 3));
  const foot = rows >= MIN_ROWS_FOR_GAP ? [[], runLine(form)] : [runLine(form)];
  const room = Math.max(0, rows - top.length - foot.length);
  const body =
    form.mode === 'raw' ? rawLines(form, columns, room) : fieldLines(form, columns, room, messages);
  return [...top, ...body.slice(0, room), ...foot]
    .slice(-Math.max(1, rows))
    .map(words => cutLine(words, columns));
}

/** `Run`, the number of the focused field, and the number of faults. */
function runLine(form: FormState): Line {
  const { focus, faults } = form;
  const rows = focusableRows(form).length;
  const isFar = rows > FEW_ROWS && focus < rows;
  return [
    cursorMark(isOnRun(form)),
    say('▶ Run', isOnRun(form) ? 'title' : 'plain'),
    say(isFar ? `   field ${focus + 1} of ${rows}` : '', 'dim'),
    say(faults.length === 0 ? '' : `   ${pluralize(faults.length, 'error')}`, 'bad'),
  ];
}

function messageLines(messages: readonly string[] = [], columns: number, indent = INDENT): readonly Line[] {
  const more = messages.length - MAX.messages;
  const mark = say(`${indent.text}✗ `, 'gutter');
  return [
    ...messages
      .slice(0, MAX.messages)
      .flatMap(message => wrapped([mark, ...clipped(message, 'bad')], columns, MAX.messageRows)),
    ...(more > 0 ? [[indent, say(`  and ${more} more`, 'bad')]] : []),
  ];
}

function wrapped(words: Line, columns: number, max: number): readonly Line[] {
  return wrapRows(words, columns).slice(0, max);
}

/** The lines of a JSON text around the cursor. */
function rawLines(form: FormState, columns: number, rows: number): readonly Line[] {
  const { raw, focus } = form;
  const about = hasFields(form)
    ? 'As JSON: Ctrl-O goes back to the fields.'
    : 'As JSON: its schema describes no fields, or more than a form holds.';
  const height = Math.max(0, rows - 1);
  const lines = raw.text.split('\n');
  const at = raw.text.slice(0, raw.cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  const seen = lines.slice(from, from + height).map((text, index) => {
    const cursor = from + index === at && focus === 0 ? raw.cursor - lineStart(raw) : null;
    return colouredJson(typedLine(text, cursor, columns));
  });
  return [[say(about, 'dim')], ...seen];
}

/** Colours a typed line of JSON, except its cursor and what stands for hidden characters. */
function colouredJson(typed: Line): Line {
  const coloured = jsonLine([say(lineText(typed))]);
  let end = 0;
  return typed.flatMap(span => {
    const start = end;
    end += span.text.length;
    return span.tone === 'plain' ? partOf(coloured, start, end) : [span];
  });
}

function partOf(line: Line, from: number, to: number): Line {
  let start = 0;
  return line.flatMap(span => {
    const text = span.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    start += span.text.length;
    return text === '' ? [] : [{ ...span, text }];
  });
}

/** The fields around the focus, which is in the middle except at both ends. Lays out only rows that may be visible. */
function fieldLines(
  form: FormState,
  width: number,
  rows: number,
  messages: ReturnType<typeof formMessages>,
): readonly Line[] {
  const all = formRows(form);
  if (all.length === 0) return [[say('  It names no arguments; Ctrl-O writes some as JSON.', 'dim')]];
  const columns = columnsOf(all, width);
  const focused = focusedRow(form);
  const at = focused ? all.indexOf(focused) : all.length;
  const blocks = (from: number, to: number) =>
    all
      .slice(Math.max(0, from), to)
      .flatMap(row => blockLines(row, row === focused ? form.cursor : null, columns, messages.get(row)));
  const [above, middle, below] = [blocks(at - rows, at), blocks(at, at + 1), blocks(at + 1, at + 1 + rows)];
  const left = Math.max(0, rows - middle.length);
  const forAbove = Math.min(above.length, Math.max(Math.floor(left / 2), left - below.length));
  return [...above.slice(above.length - forAbove), ...middle, ...below];
}

/** The widths of the columns, the same whatever is typed. */
function columnsOf(rows: readonly Row[], all: number): Columns {
  const widest = (widthIn: (row: Row) => number) => Math.max(...rows.map(widthIn));
  const gap = GAP.text.length;
  const longest = widest(row => widthOf(labelLine(row, all)));
  const label = Math.max(4, Math.min(longest, Math.floor((all - gap) / 3)));
  const room = Math.max(1, all - MARK_WIDTH - label - gap);
  if (all < MIN_COLUMNS_FOR_TYPE) return { all, label, value: room, type: 0 };
  const leaving = (aside: number) => room - gap - aside;
  const forType = Math.min(
    widest(row => asideWidths(row).type),
    Math.floor(all / 3),
  );
  const forAll = Math.min(
    widest(row => asideWidths(row).all),
    Math.floor(all / 2),
  );
  const value = Math.min(VALUE_WIDTH.max, leaving(forType), Math.max(VALUE_WIDTH.min, leaving(forAll)));
  return { all, label, value, type: room - gap - value };
}

/** The widths of a type, and of all that is beside the empty field. */
const asideWidths = memoizeByObject((row: Row) => {
  const empty = { ...row, field: { ...row.field, text: '', at: null, isPresent: false } };
  return {
    type: widthOf(joined([typeOf(row)])),
    all: widthOf(joined([typeOf(row), ...rulesOf(empty)])),
  };
});

/** A field and its messages; the focused field also shows its title, its description, its constraints and its keys. */
function blockLines(
  row: Row,
  cursor: number | null,
  columns: Columns,
  messages: readonly string[] | undefined,
): readonly Line[] {
  const { kind, field } = row;
  const isFocused = cursor !== null;
  const name = fitLine(labelLine(row, columns.label, isFocused), columns.label);
  const value = kind === 'add' ? [] : valueLine(field, cursor, columns.value);
  const words = [typeOf(row), ...(isFocused ? rulesOf(row) : limitsOf(row))];
  const isBeside = widthOf(joined(words)) <= columns.type;
  const aside = fittingWords(isBeside || !isFocused ? words : words.slice(0, 1), columns.type);
  const below = isBeside ? [] : joined(columns.type === 0 ? words : words.slice(1));
  return [
    [
      cursorMark(isFocused),
      ...name,
      GAP,
      ...fitLine(value, columns.value),
      ...(aside.length > 0 ? [GAP, ...aside] : []),
    ],
    ...messageLines(messages, columns.all),
    ...(isFocused ? [aboutLine(field.schema), below] : [])
      .filter(({ length }) => length > 0)
      .flatMap(detail => wrapped([INDENT, ...detail], columns.all, MAX.rows)),
  ];
}

type Words = readonly (string | false)[];

function joined(words: Words): Line {
  return quote(words.filter(Boolean).join(' · '), 'dim');
}

/** As many of the words as fit. */
function fittingWords(words: Words, width: number): Line {
  const counts = words.map((_, index) => words.length - index);
  const fitting = counts.find(count => widthOf(joined(words.slice(0, count))) <= width) ?? 1;
  return cutLine(joined(words.slice(0, fitting)), width);
}

function typeOf({ kind, field }: Row): string | false {
  return kind === 'field' && truncate(KINDS[field.kind].type(field.schema), MAX.limit);
}

/** @param cursor null without the focus */
function valueLine(field: Field, cursor: number | null, width: number): Line {
  const { text, isPresent, at, options } = field;
  const isFocused = cursor !== null;
  const tone = isFocused ? 'running' : 'dim';
  switch (KINDS[field.kind].input) {
    case 'typed':
      if (text === '' && isPresent) return [say(isFocused ? ' ' : '', 'cursor'), say('""', 'dim')];
      return typedLine(text, cursor, width);
    case 'chosen': {
      const place = at === null || options.length <= 2 ? '' : `  ${at + 1} of ${options.length}`;
      return [say('‹ ', tone), ...chosenLine(field, isFocused), say(' ›', tone), say(place, 'dim')];
    }
    case 'group':
      return groupLine(field, tone);
  }
}

/** @param cursor null without the focus */
function typedLine(text: string, cursor: number | null, width: number): Line {
  return cursor === null ? quietLine(text, width) : inputLine({ text, cursor }, width);
}

function aboutLine({ title, description }: Schema): Line {
  const about = [title, description].flatMap(text => (typeof text === 'string' ? [text.trim()] : []));
  const words = truncate(about.filter(text => text !== '').join(' – '), MAX.about);
  return quote(words.replaceAll(/\s*\n\s*/g, ' '), 'dim');
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

/** `required · at least 1 · Ctrl-D leaves it out` */
function rulesOf(row: Row): Words {
  const { isRequired, isExtra } = row.field;
  return [isRequired && !isExtra && 'required', ...limitsOf(row), ...hintsOf(row)];
}

function limitsOf({ kind, field: { schema } }: Row): Words {
  if (kind === 'add') return [];
  return Object.entries(LIMITS).map(([keyword, words]) => {
    const limit = schema[keyword];
    const isShown = typeof limit === 'number' || typeof limit === 'string';
    return (
      isShown &&
      `${words} ${truncate(String(limit), MAX.limit)}${keyword === 'format' ? effectOf(limit) : ''}`
    );
  });
}

/** A value that does not match its `format` is sent, with a warning if this program knows the format. */
function effectOf(format: unknown): string {
  return Object.hasOwn(FORMATS, String(format)) ? ' (warns only)' : ' (not checked)';
}

function hintsOf({ kind, field }: Row): Words {
  const { isRequired, isExtra, isPresent, at } = field;
  const { input } = KINDS[field.kind];
  const isAbsent = input === 'chosen' ? at === null : !isPresent;
  const remove = isExtra ? 'Ctrl-D removes it' : !(isRequired || isAbsent) && 'Ctrl-D leaves it out';
  if (kind === 'add') return ['⏎ adds an item'];
  if (input === 'chosen') return ['Space chooses', remove];
  if (input === 'typed') return isExtra ? [remove] : typedHints(field);
  if (field.kind === 'object') return [!isPresent && '⏎ adds it', remove];
  return ['⏎ adds an item', isPresent || isExtra ? remove : 'Ctrl-D sends []'];
}

function typedHints({ kind, text, isPresent, isRequired }: Field): readonly (string | false)[] {
  if (text !== '') return [];
  if (isPresent) return ['sends "" · Ctrl-D does not'];
  return [!isRequired && 'empty: left out', kind === 'text' && 'Ctrl-D sends ""'];
}

/** The name of a field, cut to leave room for the mark of a required field. */
function labelLine({ kind, depth, field, address }: Row, width: number, isFocused = false): Line {
  const indent = say('  '.repeat(depth));
  if (kind === 'add') return [indent, say('+ add', isFocused ? 'running' : 'dim')];
  const { key, isRequired, isExtra } = field;
  const own = key ?? (address.length === 0 ? 'arguments' : variantText(field.schema));
  const star = isRequired && !isExtra && key !== null ? [say('*', 'warn')] : [];
  const name = cutLine([indent, ...clipped(String(own), isFocused ? 'title' : 'plain')], width - star.length);
  return [...name, ...star];
}

/** The name of a variant: its title, else its constant or type. Untrusted. */
function variantText(variant: Schema): string {
  const named = [variant['title'], variant['const'], variant['type']].find(name => typeof name === 'string');
  return String(named ?? 'JSON');
}

function chosenLine({ kind, at, options }: Field, isFocused: boolean): Line {
  if (at === null) return [say('–', 'dim')];
  const text = kind === 'choice' ? choiceText(options[at]) : variantText(options[at] as Schema);
  return text === '' ? [say('""', 'dim')] : clipped(text, isFocused ? 'title' : 'plain');
}

function groupLine({ kind, isPresent, children }: Field, tone: Tone): Line {
  const add = say('+ add', tone);
  if (kind === 'object') return isPresent ? [] : [add];
  if (children.length > 0) return [say(pluralize(children.length, 'item'), 'dim')];
  return line`${isPresent && say('[]  ', 'dim')}${add}`;
}
