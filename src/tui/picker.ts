import type { UserChoice } from '../protocol/callbacks.js';
import { type Line, quote, say, textLines, titleLine } from '../render/line.js';
import { cutLine, dressLine, fitRows, type Theme, widthOf, wrapLine } from '../render/terminal/theme.js';
import { hintsLine } from './keys.js';
import type { Size } from './terminal.js';

export type Question = Pick<UserChoice, 'prompt' | 'choices' | 'default'>;

export interface Picker<Q extends Question = UserChoice> {
  readonly question: Q;
  readonly selected: number;
  /** The digits typed so far. */
  readonly typed: string;
  /** The call that asks, if there are several. */
  readonly asker?: Line;
}

export function openPicker<Q extends Question>(question: Q): Picker<Q> {
  return { question, selected: question.default, typed: '' };
}

/** Returns the picker after a key, see `Press`. Callers handle Enter and Escape. */
export function stepPicker<P extends Picker<Question>>(picker: P, key: string): P {
  const { selected, question, typed } = picker;
  const last = question.choices.length - 1;
  const select = (index: number): P => ({
    ...picker,
    selected: Math.max(0, Math.min(last, index)),
    typed: '',
  });
  switch (key) {
    case 'up':
    case 'k':
      return select(selected - 1);
    case 'down':
    case 'j':
      return select(selected + 1);
    case 'home':
      return select(0);
    case 'end':
      return select(last);
    default: {
      if (!/^\d$/.test(key)) return picker;
      // `1` then `2` selects 12 if there are that many choices, otherwise 2.
      const digits = [typed + key, key].find(index => Number(index) <= last);
      return digits === undefined ? picker : { ...picker, typed: digits, selected: Number(digits) };
    }
  }
}

/** A question as rows of the terminal, and the key hints for the line below them. */
export interface PickerView {
  readonly rows: readonly string[];
  readonly keys: Line;
}

/** Hints for Esc and Ctrl-C. */
interface KeyHints {
  readonly onEscape: string;
  readonly onInterrupt: string;
}

const CURSOR = '❯ ';
const DEFAULT = say(' (default)', 'dim');
/** Minimum height: the prompt, two choices and the keys. The asker is shown only if there are more rows. */
export const MIN_PICKER_ROWS = 4;

/** The asker, the prompt and the choices around the cursor. @param size includes the row of the keys */
export function drawPicker(
  { columns, rows }: Size,
  picker: Picker<Question>,
  theme: Theme,
  hints: KeyHints = { onEscape: 'default', onInterrupt: 'cancel' },
): PickerView {
  const { asker, question, selected } = picker;
  const head = asker && rows > MIN_PICKER_ROWS ? [dressLine(cutLine(asker, columns), theme)] : [];
  const below = rows - head.length - 1; // the keys
  const { length } = question.choices;
  const fewest = Math.min(length, Math.ceil((below + 1) / 2));
  const prompt = promptRows(question.prompt, { columns, rows: Math.max(1, below - fewest) }, theme);
  const room = Math.max(1, below - prompt.length);
  const from = Math.max(0, Math.min(selected - Math.floor(room / 2), length - room));
  const choices = question.choices
    .slice(from, from + room)
    .map((label, index) => dressLine(choiceLine(picker, from + index, label, columns), theme));
  const keys = hintsLine(
    [
      ['↑↓', choices.length < length ? `${selected + 1} of ${length}` : 'select'],
      ['Ctrl-C', hints.onInterrupt],
    ],
    [
      ['⏎', 'choose'],
      ['Esc', hints.onEscape],
    ],
    columns,
  );
  return { rows: [...head, ...prompt, ...choices], keys };
}

function promptRows(prompt: string, { columns, rows }: Size, theme: Theme): readonly string[] {
  const { lines } = textLines(prompt, rows + 1);
  const bold = lines.map(titleLine);
  if (rows === 1) {
    // The prompt itself must be visible, not only a count of hidden rows.
    const [first = [], ...others] = bold;
    const start: Line = others.length > 0 ? [...first, say(' …', 'dim')] : first;
    return [dressLine(cutLine(start, columns), theme)];
  }
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  const wrapped = bold.flatMap(line => wrapLine(line, columns, theme));
  return fitRows(wrapped, rows, more);
}

/** The label may be cut; the index and the mark of the default are always shown. */
function choiceLine(
  { question, selected }: Picker<Question>,
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
  const start = label.slice(0, 2 * columns); // a label may have ten megabytes
  const text = quote(start.length < label.length ? `${start}…` : start, isSelected ? 'running' : 'plain');
  return [...head, ...cutLine(text, columns - widthOf(head) - widthOf(tail)), ...tail];
}
