import type { Schema } from '../../../json-schema/example.js';
import { clipped, type Line, line, pluralize, quote, say, type Tone } from '../../../render/line.js';
import { cutLine, fitLine, widthOf } from '../../../render/terminal/fit.js';
import { styleLine, type Theme } from '../../../render/terminal/theme.js';
import { wrapLine } from '../../../render/terminal/wrap.js';
import { truncate } from '../../../util/text.js';
import { cursorMark } from '../../layout.js';
import type { Size } from '../../terminal.js';
import { TextInput } from '../../text-input.js';
import { choiceText, type Field, KINDS } from './fields.js';
import type { Form } from './form.js';

type Row = Form['rows'][number];

/** Maximum number of rows of a description and of a message, of messages per field, and of characters of untrusted texts. */
const MAX = { rows: 4, messageRows: 3, messages: 3, about: 800, limit: 80 };

/** Minimum height for a blank row above `Run`. */
const MIN_ROWS_FOR_GAP = 12;

const MIN_COLUMNS_FOR_TYPE = 60;

/** With more focusable rows than this, `Run` shows the number of the focused one. */
const FEW_ROWS = 10;

const INDENT = say(' '.repeat(4), 'gutter');

const GAP = say('  ');

/**
 * Draws a form in at most `rows` rows: the faults of the whole form, the fields around the focus, `Run`. No row is wider than `columns`,
 * and untrusted text is safe to print (threats, row 24).
 */
export function drawForm(form: Form, { columns, rows }: Size, theme: Theme): readonly string[] {
  const drawing = new Drawing(form, columns, theme);
  const top = drawing.messages(undefined, GAP).slice(0, Math.floor(rows / 3));
  const foot = rows >= MIN_ROWS_FOR_GAP ? ['', drawing.run] : [drawing.run];
  const room = Math.max(0, rows - top.length - foot.length);
  const body = form.state.mode === 'raw' ? drawing.raw(room) : drawing.fields(room);
  return [...top, ...body.slice(0, room), ...foot].slice(-Math.max(1, rows));
}

class Drawing {
  readonly #rows: readonly Row[];
  readonly #messages: Form['messages'];
  readonly #label: number;

  constructor(
    private readonly form: Form,
    private readonly columns: number,
    private readonly theme: Theme,
  ) {
    this.#rows = form.rows;
    this.#messages = form.messages;
    const widest = Math.max(...form.rows.map(row => widthOf(labelLine(row, columns))));
    this.#label = Math.max(4, Math.min(widest, Math.floor((columns - GAP.text.length) / 3)));
  }

  /** `Run`, the number of the focused field, and the number of faults. */
  get run(): string {
    const { isOnRun, state } = this.form;
    const rows = this.#rows.filter(({ isFocusable }) => isFocusable).length;
    const isFar = rows > FEW_ROWS && state.focus < rows;
    const { length } = state.faults;
    return this.#row([
      cursorMark(isOnRun),
      say('▶ Run', isOnRun ? 'title' : 'plain'),
      say(isFar ? `   field ${state.focus + 1} of ${rows}` : '', 'dim'),
      say(length === 0 ? '' : `   ${pluralize(length, 'fault')}`, 'bad'),
    ]);
  }

  messages(row: Row | undefined, indent = INDENT): readonly string[] {
    const messages = this.#messages.get(row) ?? [];
    const more = messages.length - MAX.messages;
    const mark = say(`${indent.text}✗ `, 'gutter');
    return [
      ...messages
        .slice(0, MAX.messages)
        .flatMap(message => this.#wrapped([mark, ...clipped(message, 'bad')], MAX.messageRows)),
      ...(more > 0 ? [this.#row([indent, say(`  and ${more} more`, 'bad')])] : []),
    ];
  }

  /** The lines of a JSON text around the cursor. */
  raw(rows: number): readonly string[] {
    const { raw, focus } = this.form.state;
    const about = this.form.hasFields
      ? 'As JSON: Ctrl-E goes back to the fields.'
      : 'As JSON: its schema describes no fields, or more than a form holds.';
    const height = Math.max(0, rows - 1);
    const lines = raw.text.split('\n');
    const at = raw.text.slice(0, raw.cursor).split('\n').length - 1;
    const from = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
    const seen = lines.slice(from, from + height).map((text, index) => {
      const cursor = from + index === at && focus === 0 ? raw.cursor - raw.lineStart : null;
      return typedLine(text, cursor, this.columns);
    });
    return [[say(about, 'dim')], ...seen].map(each => this.#row(each));
  }

  /** The fields around the focus, which is in the middle except at both ends. Lays out only rows that may be visible. */
  fields(rows: number): readonly string[] {
    const all = this.#rows;
    if (all.length === 0)
      return [this.#row([say('  It names no arguments; Ctrl-E writes some as JSON.', 'dim')])];
    const focused = this.form.focusedRow;
    const at = focused ? all.indexOf(focused) : all.length;
    const blocks = (from: number, to: number) =>
      all.slice(Math.max(0, from), to).flatMap(row => this.#block(row, row === focused));
    const [above, middle, below] = [blocks(at - rows, at), blocks(at, at + 1), blocks(at + 1, at + 1 + rows)];
    const left = Math.max(0, rows - middle.length);
    const forAbove = Math.min(above.length, Math.max(Math.floor(left / 2), left - below.length));
    return [...above.slice(above.length - forAbove), ...middle, ...below];
  }

  #row(words: Line): string {
    return styleLine(cutLine(words, this.columns), this.theme);
  }

  #wrapped(words: Line, max: number): readonly string[] {
    return wrapLine(words, this.columns, this.theme).slice(0, max);
  }

  /** A field and its messages; the focused field also shows its title, its description, its constraints and its keys. */
  #block(row: Row, isFocused: boolean): readonly string[] {
    const details = isFocused ? [aboutLine(row.field.schema), rulesLine(row)] : [];
    return [
      this.#row(this.#fieldLine(row, isFocused)),
      ...this.messages(row),
      ...details
        .filter(({ length }) => length > 0)
        .flatMap(words => this.#wrapped([INDENT, ...words], MAX.rows)),
    ];
  }

  #fieldLine(row: Row, isFocused: boolean): Line {
    const { columns } = this;
    const { kind, schema } = row.field;
    const hasType = columns >= MIN_COLUMNS_FOR_TYPE && row.kind === 'field';
    const type = hasType ? cutLine(clipped(KINDS[kind].type(schema), 'dim'), Math.floor(columns / 4)) : [];
    const tail = type.length > 0 ? [GAP, ...type] : [];
    const room = Math.max(1, columns - this.#label - 2 * GAP.text.length - widthOf(tail));
    const name = fitLine(labelLine(row, this.#label, isFocused), this.#label);
    const value = fitLine(this.#valueLine(row, isFocused, room), room);
    return [cursorMark(isFocused), ...name, GAP, ...value, ...tail];
  }

  #valueLine({ kind, field }: Row, isFocused: boolean, width: number): Line {
    if (kind === 'add') return [];
    const { text, isPresent, at, options } = field;
    const tone = isFocused ? 'running' : 'dim';
    switch (KINDS[field.kind].input) {
      case 'typed':
        if (text === '' && isPresent) return [say(isFocused ? ' ' : '', 'cursor'), say('""', 'dim')];
        return typedLine(text, isFocused ? this.form.state.cursor : null, width);
      case 'chosen': {
        const place = at === null || options.length <= 2 ? '' : `  ${at + 1} of ${options.length}`;
        return [say('‹ ', tone), ...chosenLine(field, isFocused), say(' ›', tone), say(place, 'dim')];
      }
      case 'group':
        return groupLine(field, tone);
    }
  }
}

/** @param cursor null without the focus */
function typedLine(text: string, cursor: number | null, width: number): Line {
  return cursor === null ? new TextInput(text, 0).quietLine(width) : new TextInput(text, cursor).line(width);
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
function rulesLine(row: Row): Line {
  const { isRequired, isExtra, schema } = row.field;
  const limits = Object.entries(LIMITS).map(([keyword, words]) => {
    const limit = schema[keyword];
    const isShown = typeof limit === 'number' || typeof limit === 'string';
    return isShown && `${words} ${truncate(String(limit), MAX.limit)}`;
  });
  const hints = [isRequired && !isExtra && 'required', ...limits, ...hintsOf(row)];
  return quote(hints.filter(Boolean).join(' · '), 'dim');
}

function hintsOf({ kind, field }: Row): readonly (string | false)[] {
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
