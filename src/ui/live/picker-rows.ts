import { fitRows } from '../../dress/columns.js';
import { cutLine, widthOf } from '../../dress/cut-line.js';
import { dressLine, wrapLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { quote, say } from '../../story/spans.js';
import { textLines } from '../../story/text-lines.js';
import { hintsLine } from '../hints.js';
import type { Size } from '../terminal.js';
import type { Askable, Picker } from './picker.js';

const CURSOR = '❯ ';
const DEFAULT = say(' (default)', 'dim');
const HINTS = 1;

/** What the keys do that choose nothing. */
interface Leaving {
  readonly onEscape: string;
  readonly onInterrupt: string;
}

const LEAVING: Leaving = { onEscape: 'default', onInterrupt: 'cancel' };

/** The prompt, two choices, the keys: with fewer rows nothing stands above them. */
const LEAST = 4;

/** A question as rows of the terminal, and the keys that answer it, which stand below them. */
export interface Asked {
  readonly rows: readonly string[];
  readonly keys: Line;
}

/** A question as rows of the terminal, at most `rows` of them, the keys last. */
export function pickerRows(picker: Picker<Askable>, size: Size, theme: Theme): string[] {
  const { rows, keys } = askedIn(size, picker, theme);
  return [...rows, dressLine(keys, theme)].slice(0, size.rows);
}

/** Who asks where there are several, the prompt, the choices around the cursor. @param size with the row of the keys in it */
export function askedIn(
  { columns, rows }: Size,
  picker: Picker<Askable>,
  theme: Theme,
  leaving = LEAVING,
): Asked {
  const { asker } = picker;
  if (!asker || rows <= LEAST) return questionIn({ columns, rows }, picker, theme, leaving);
  const head = dressLine(cutLine(asker, columns), theme);
  const asked = questionIn({ columns, rows: rows - 1 }, picker, theme, leaving);
  return { ...asked, rows: [head, ...asked.rows] };
}

function questionIn({ columns, rows }: Size, picker: Picker<Askable>, theme: Theme, leaving: Leaving): Asked {
  const { choices } = picker.question;
  const fewest = Math.min(choices.length, Math.ceil(rows / 2));
  const prompt = promptRows(picker, { columns, rows: Math.max(1, rows - HINTS - fewest) }, theme);
  const room = Math.max(1, rows - HINTS - prompt.length);
  const from = firstSeen(picker, room);
  const seen = choices
    .slice(from, from + room)
    .map((label, index) => choiceLine(picker, from + index, label, columns));
  return {
    rows: [...prompt, ...seen.map(line => dressLine(line, theme))],
    keys: keysLine(picker, seen.length, columns, leaving),
  };
}

function promptRows({ question }: Picker<Askable>, { columns, rows }: Size, theme: Theme): string[] {
  const { lines } = textLines(question.prompt, rows + 1);
  const bold = lines.map(line => line.map(span => (span.tone === 'plain' ? say(span.text, 'title') : span)));
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  const [first = [], ...others] = bold;
  const start: Line = others.length > 0 ? [...first, say(' …', 'dim')] : first;
  if (rows === 1) return [dressLine(cutLine(start, columns), theme)]; // a count alone would be no question
  return fitRows(
    bold.flatMap(line => wrapLine(line, columns, theme)),
    rows,
    more,
  );
}

/** The cursor stands in the middle, save at either end. */
function firstSeen({ selected, question }: Picker<Askable>, room: number): number {
  return Math.max(0, Math.min(selected - Math.floor(room / 2), question.choices.length - room));
}

/** A label is cut; its index and whether it is the default never are. */
function choiceLine(
  { question, selected }: Picker<Askable>,
  index: number,
  label: string,
  columns: number,
): Line {
  const isSelected = index === selected;
  const digits = String(question.choices.length - 1).length;
  const head = [
    say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
    say(`${String(index).padStart(digits)} `, 'dim'),
  ];
  const tail = index === question.default ? [DEFAULT] : [];
  const room = columns - widthOf(head) - widthOf(tail);
  return [...head, ...cutLine(quote(start(label, columns), isSelected ? 'running' : 'plain'), room), ...tail];
}

/** A label may be ten megabytes long: what is more than a row holds is cut before it is looked at. */
function start(label: string, columns: number): string {
  const head = Array.from(label.slice(0, 2 * columns))
    .slice(0, columns)
    .join('');
  return head.length < label.length ? `${head}…` : label;
}

function keysLine(
  { question, selected }: Picker<Askable>,
  seen: number,
  columns: number,
  { onEscape, onInterrupt }: Leaving,
): Line {
  const { length } = question.choices;
  const hints = [
    ['↑↓', seen < length ? `${selected + 1} of ${length}` : 'select'],
    ['Ctrl-C', onInterrupt],
  ] as const;
  const always = [
    ['⏎', 'choose'],
    ['Esc', onEscape],
  ] as const;
  return hintsLine(hints, always, columns);
}
