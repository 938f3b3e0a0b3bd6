import type { UserChoice } from '../protocol/callbacks.js';
import { type Line, quote, say, textLines, titleLine } from '../render/line.js';
import { cutLine, fitRows, widthOf } from '../render/terminal/fit.js';
import { wrapRows } from '../render/terminal/wrap.js';
import { hintsLine } from './keys.js';
import { cursorMark } from './layout.js';
import type { Size } from './tty.js';

/** Esc answers with the default; a default of -1 is no choice, so that Esc leaves the question. */
type Question = Pick<UserChoice, 'prompt' | 'choices' | 'default'>;

/** A question to the user. */
export interface PickerState {
  readonly question: Question;
  /** An index into the choices. */
  readonly selected: number;
  /** The digits typed so far. */
  readonly typed: string;
  /** The call that asks, if there are several. */
  readonly asker: Line;
}

/** What Esc and Ctrl-C do. */
export interface PickerHints {
  readonly onEscape: string;
  readonly onInterrupt: string;
}

/** Minimum height: the prompt, two choices and the keys. The asker is shown only if there are more rows. */
export const MIN_PICKER_ROWS = 4;

const DEFAULT = say(' (default)', 'dim');

const HINTS: PickerHints = { onEscape: 'default', onInterrupt: 'cancel' };

export function pickerOf(question: Question, asker: Line = []): PickerState {
  return { question, selected: Math.max(0, question.default), typed: '', asker };
}

/** The state after a key. @param key see `Press`; callers handle Enter and Escape */
export function pressPicker(picker: PickerState, key: string): PickerState {
  const { selected, typed } = picker;
  const last = picker.question.choices.length - 1;
  switch (key) {
    case 'up':
    case 'k':
      return select(picker, Math.max(0, selected - 1));
    case 'down':
    case 'j':
      return select(picker, Math.min(last, selected + 1));
    case 'home':
      return select(picker, 0);
    case 'end':
      return select(picker, last);
    default: {
      if (!/^\d$/.test(key)) return picker;
      // `1` then `2` selects 12 if there are that many choices, otherwise 2.
      const digits = [typed + key, key].find(index => Number(index) <= last);
      return digits === undefined ? picker : select(picker, Number(digits), digits);
    }
  }
}

function select(picker: PickerState, selected: number, typed = ''): PickerState {
  return { ...picker, selected, typed };
}

/**
 * The asker, the prompt and the choices around the selected one, and the key hints for the line below them.
 * @param size includes the row of the keys
 */
export function pickerLines(
  { question, selected, asker }: PickerState,
  { columns, rows }: Size,
  hints: PickerHints = HINTS,
): { readonly lines: readonly Line[]; readonly keys: Line } {
  const { prompt, choices } = question;
  const head = asker.length > 0 && rows > MIN_PICKER_ROWS ? [cutLine(asker, columns)] : [];
  const below = rows - head.length - 1; // the keys
  const { length } = choices;
  const fewest = Math.min(length, Math.ceil((below + 1) / 2));
  const text = promptLines(prompt, { columns, rows: Math.max(1, below - fewest) });
  const room = Math.max(1, below - text.length);
  const from = Math.max(0, Math.min(selected - Math.floor(room / 2), length - room));
  const labels = choices
    .slice(from, from + room)
    .map((label, index) => choiceLine(question, from + index, label, selected, columns));
  const keys = hintsLine(
    [
      ['↑↓', labels.length < length ? `${selected + 1} of ${length}` : 'select'],
      ['Ctrl-C', hints.onInterrupt],
    ],
    [
      ['⏎', 'choose'],
      ['Esc', question.default < 0 ? 'leave' : hints.onEscape],
    ],
    columns,
  );
  return { lines: [...head, ...text, ...labels], keys };
}

/** The label may be cut; the index and the mark of the default are always shown. */
function choiceLine(
  question: Question,
  index: number,
  label: string,
  selected: number,
  columns: number,
): Line {
  const isSelected = index === selected;
  const digits = String(question.choices.length - 1).length;
  const head = [cursorMark(isSelected), say(`${String(index).padStart(digits)} `, 'dim')];
  const tail = index === question.default ? [DEFAULT] : [];
  const start = label.slice(0, 2 * columns); // a label may have ten megabytes
  const text = quote(start.length < label.length ? `${start}…` : start, isSelected ? 'running' : 'plain');
  return [...head, ...cutLine(text, columns - widthOf(head) - widthOf(tail)), ...tail];
}

function promptLines(prompt: string, { columns, rows }: Size): readonly Line[] {
  const { lines } = textLines(prompt, rows + 1);
  const bold = lines.map(titleLine);
  if (rows === 1) {
    // The prompt itself must be visible, not only a count of hidden rows.
    const [first = [], ...others] = bold;
    const start: Line = others.length > 0 ? [...first, say(' …', 'dim')] : first;
    return [cutLine(start, columns)];
  }
  const wrapped = bold.flatMap(line => wrapRows(line, columns));
  return fitRows(wrapped, rows, count => [say(`… ${count} more rows`, 'dim')]);
}
