import type { Schema } from '../../../json-schema/example.js';
import { counted, type Line, quote, type Span, say, type Tone } from '../../../render/line.js';
import {
  cutLine,
  dressLine,
  fitLine,
  type Theme,
  widthOf,
  wrapLine,
} from '../../../render/terminal/theme.js';
import { cut } from '../../../util/text.js';
import type { Size } from '../../terminal.js';
import { TextInput } from '../../text-input.js';
import { type Child, type Field, KINDS } from './fields.js';
import { choiceText, type Form, type Row } from './form.js';

/** Maximum lengths, in characters: a title with its description, a limit, a label, a type, a message. */
const MAX_LENGTH = { about: 400, limit: 80, label: 60, type: 200, message: 300 };

/** Maximum number of rows of a description and of a message, and of messages per field. */
const MAX = { rows: 4, messageRows: 3, messages: 3 };

/** Minimum height for a blank row above `Run`. */
const MIN_ROWS_FOR_GAP = 12;

/** Minimum width for a type beside the value, in columns. */
const MIN_COLUMNS_FOR_TYPE = 60;

/** With more focusable rows than this, `Run` shows the number of the focused one. */
const FEW_STOPS = 10;

const MARK = '❯ ';

const GAP = say('  ');

/**
 * Draws a form in at most `rows` rows: the faults of the whole form, the fields around the focus, `Run`. No row is wider than `columns`,
 * and untrusted text is safe to print (threats, row 24).
 */
export function drawForm(form: Form, { columns, rows }: Size, theme: Theme): readonly string[] {
  const drawing = new Drawing(form, columns, theme);
  const top = drawing.messages(undefined, '  ').slice(0, Math.floor(rows / 3));
  const foot = rows >= MIN_ROWS_FOR_GAP ? ['', drawing.run] : [drawing.run];
  const room = Math.max(0, rows - top.length - foot.length);
  const body = form.state.mode === 'raw' ? drawing.raw(room) : drawing.fields(room);
  return [...top, ...body, ...foot].slice(-Math.max(1, rows));
}

class Drawing {
  readonly #rows: readonly Row[];
  readonly #messages: Form['messages'];

  constructor(
    private readonly form: Form,
    private readonly columns: number,
    private readonly theme: Theme,
  ) {
    this.#rows = form.rows;
    this.#messages = form.messages;
  }

  /** `Run`, the number of the focused field, and the number of faults. */
  get run(): string {
    const { isOnRun, state } = this.form;
    const stops = this.#rows.filter(({ isStop }) => isStop).length;
    const isFar = stops > FEW_STOPS && state.focus < stops;
    return this.#row([
      mark(isOnRun),
      say('▶ Run', isOnRun ? 'title' : 'plain'),
      say(isFar ? `   field ${state.focus + 1} of ${stops}` : '', 'dim'),
      say(state.faults.length === 0 ? '' : `   ${counted(state.faults.length, 'fault')}`, 'bad'),
    ]);
  }

  messages(row: Row | undefined, indent: string): readonly string[] {
    const messages = this.#messages.get(row) ?? [];
    const rows = messages.slice(0, MAX.messages).flatMap(message => {
      const line = [say(`${indent}✗ `, 'gutter'), ...quote(cut(message, MAX_LENGTH.message), 'bad')];
      return wrapLine(line, this.columns, this.theme).slice(0, MAX.messageRows);
    });
    const more = messages.length - MAX.messages;
    return more > 0 ? [...rows, this.#row([say(`${indent}  and ${more} more`, 'bad')])] : rows;
  }

  /** The lines of a JSON text around the cursor. */
  raw(rows: number): readonly string[] {
    const { columns, form } = this;
    const { raw, focus } = form.state;
    const about = form.hasFields
      ? 'As JSON: Ctrl-E goes back to the fields.'
      : 'As JSON: its schema describes no fields, or more than a form holds.';
    const height = Math.max(0, rows - 1);
    const lines = raw.text.split('\n');
    const at = raw.text.slice(0, raw.cursor).split('\n').length - 1;
    const from = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
    const seen = lines.slice(from, from + height).map((text, index) => {
      const hasCursor = from + index === at && focus === 0;
      const typed = new TextInput(text, raw.cursor - raw.lineStart);
      return hasCursor ? typed.line(columns) : typed.quietLine(columns);
    });
    return [[say(about, 'dim')], ...seen].map(line => this.#row(line)).slice(0, rows);
  }

  /** The fields around the focus, which is in the middle except at both ends. Lays out only rows that may be visible. */
  fields(rows: number): readonly string[] {
    const all = this.#rows;
    const none = say('  It names no arguments; Ctrl-E writes some as JSON.', 'dim');
    if (all.length === 0) return [this.#row([none])].slice(0, rows);
    const focused = this.form.focusedRow;
    const at = focused ? all.indexOf(focused) : all.length;
    const near = (from: number, to: number) =>
      all.slice(Math.max(0, from), to).flatMap(row => this.#block(row, row === focused));
    const [above, middle, below] = [near(at - rows, at), near(at, at + 1), near(at + 1, at + 1 + rows)];
    const left = Math.max(0, rows - middle.length);
    const forAbove = Math.min(above.length, Math.max(Math.floor(left / 2), left - below.length));
    return [...above.slice(above.length - forAbove), ...middle, ...below].slice(0, rows);
  }

  #row(line: Line): string {
    return dressLine(cutLine(line, this.columns), this.theme);
  }

  /** A field and its messages; the focused field also shows its title, its description, its constraints and its keys. */
  #block(row: Row, isFocused: boolean): readonly string[] {
    const rows = [this.#row(this.#fieldLine(row, isFocused)), ...this.messages(row, ' '.repeat(4))];
    if (!isFocused) return rows;
    const details = [aboutLine(row.child.field.schema), rulesLine(row)].filter(line => line.length > 0);
    const wrapped = details.flatMap(line =>
      wrapLine([say(' '.repeat(4), 'gutter'), ...line], this.columns, this.theme).slice(0, MAX.rows),
    );
    return [...rows, ...wrapped];
  }

  #fieldLine(row: Row, isFocused: boolean): Line {
    const { columns } = this;
    const { kind, schema } = row.child.field;
    const hasType = columns >= MIN_COLUMNS_FOR_TYPE && row.kind === 'field';
    const type = quote(cut(KINDS[kind].type(schema), MAX_LENGTH.type), 'dim');
    const tail = hasType && type.length > 0 ? [GAP, ...cutLine(type, Math.floor(columns / 4))] : [];
    const label = this.#labelWidth;
    const room = Math.max(1, columns - MARK.length - label - GAP.text.length - widthOf(tail));
    const name = fitLine(labelLine(row, label, isFocused), label);
    const value = fitLine(this.#valueLine(row, isFocused, room), room);
    return [mark(isFocused), ...name, GAP, ...value, ...tail];
  }

  get #labelWidth(): number {
    const widest = Math.max(...this.#rows.map(row => widthOf(labelLine(row, this.columns))));
    return Math.max(4, Math.min(widest, Math.floor((this.columns - MARK.length) / 3)));
  }

  #valueLine({ kind, child: { field } }: Row, isFocused: boolean, width: number): Line {
    if (kind === 'add') return [];
    const { text, isPresent, at, options } = field;
    const tone = isFocused ? 'running' : 'dim';
    const typed = new TextInput(text, this.form.state.cursor);
    switch (KINDS[field.kind].input) {
      case 'typed':
        if (text === '' && isPresent) return [...(isFocused ? [say(' ', 'cursor')] : []), say('""', 'dim')];
        return isFocused ? typed.line(width) : typed.quietLine(width);
      case 'chosen': {
        const place = at === null || options.length <= 2 ? '' : `  ${at + 1} of ${options.length}`;
        return [say('‹ ', tone), ...chosenLine(field, isFocused), say(' ›', tone), say(place, 'dim')];
      }
      case 'group':
        return groupLine(field, tone);
    }
  }
}

function mark(isFocused: boolean): Span {
  return say(isFocused ? MARK : ' '.repeat(MARK.length), 'running');
}

function aboutLine({ title, description }: Schema): Line {
  const about = [title, description]
    .map(text => (typeof text === 'string' ? cut(text.trim(), MAX_LENGTH.about) : ''))
    .filter(text => text !== '');
  return quote(about.join(' – ').replaceAll(/\s*\n\s*/g, ' '), 'dim');
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

function rulesLine(row: Row): Line {
  const { isRequired, isExtra, field } = row.child;
  const limits = Object.entries(LIMITS).flatMap(([keyword, words]) => {
    const limit = field.schema[keyword];
    const isShown = typeof limit === 'number' || typeof limit === 'string';
    return isShown ? [`${words} ${cut(String(limit), MAX_LENGTH.limit)}`] : [];
  });
  return quote(joined(isRequired && !isExtra ? 'required' : '', ...limits, hintOf(row)), 'dim');
}

function hintOf({ kind, child: { field, isRequired, isExtra } }: Row): string {
  if (kind === 'add') return '⏎ adds an item';
  const { isPresent, at } = field;
  const { input } = KINDS[field.kind];
  const isAbsent = input === 'chosen' ? at === null : !isPresent;
  const remove = isExtra ? 'Ctrl-D takes it out' : isRequired || isAbsent ? '' : 'Ctrl-D leaves it out';
  if (input === 'typed') return isExtra ? 'Ctrl-D takes it out' : emptyHint(field, isRequired);
  if (input === 'chosen') return joined('Space chooses', remove);
  if (field.kind === 'object') return joined(isPresent ? '' : '⏎ adds it', remove);
  return joined('⏎ adds an item', isPresent || isExtra ? remove : 'Ctrl-D sends []');
}

function emptyHint({ kind, text, isPresent }: Field, isRequired: boolean): string {
  if (text !== '') return '';
  if (isPresent) return 'sends "" · Ctrl-D does not';
  return joined(isRequired ? '' : 'empty: left out', kind === 'text' ? 'Ctrl-D sends ""' : '');
}

function joined(...words: readonly string[]): string {
  return words.filter(word => word !== '').join(' · ');
}

/** The name of a field, cut to leave room for the mark of a required field. */
function labelLine({ kind, depth, child, address }: Row, width: number, isFocused = false): Line {
  const indent = say('  '.repeat(depth));
  if (kind === 'add') return [indent, say('+ add', isFocused ? 'running' : 'dim')];
  const own = child.key ?? (address.length === 0 ? 'arguments' : variantText(child.field.schema));
  const name = quote(cut(String(own), MAX_LENGTH.label), isFocused ? 'title' : 'plain');
  const star = isStarred(child) ? [say('*', 'warn')] : [];
  return [...cutLine([indent, ...name], width - star.length), ...star];
}

function isStarred({ key, isRequired, isExtra }: Child): boolean {
  return isRequired && !isExtra && key !== null;
}

/** The name of a variant: its title, else its constant or type. Untrusted. */
function variantText(variant: Schema): string {
  const named = [variant['title'], variant['const'], variant['type']].find(name => typeof name === 'string');
  return cut(String(named ?? 'JSON'), MAX_LENGTH.type);
}

function chosenLine({ kind, at, options }: Field, isFocused: boolean): Line {
  if (at === null) return [say('–', 'dim')];
  const option = options[at];
  const text = kind === 'choice' ? choiceText(option) : variantText(option as Schema);
  return text === '' ? [say('""', 'dim')] : quote(text, isFocused ? 'title' : 'plain');
}

function groupLine({ kind, isPresent, children }: Field, tone: Tone): Line {
  const add = say('+ add', tone);
  if (kind === 'object') return isPresent ? [] : [add];
  if (children.length > 0) return [say(counted(children.length, 'item'), 'dim')];
  return isPresent ? [say('[]  ', 'dim'), add] : [add];
}
