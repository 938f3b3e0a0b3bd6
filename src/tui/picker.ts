import type { UserChoice } from '../protocol/callbacks.js';
import { type Line, quote, say, textLines, titleLine } from '../render/line.js';
import { cutLine, fitRows, widthOf } from '../render/terminal/fit.js';
import { styleLine, type Theme } from '../render/terminal/theme.js';
import { wrapLine } from '../render/terminal/wrap.js';
import { hintsLine } from './keys.js';
import { cursorMark } from './layout.js';
import type { Size } from './terminal.js';

type Question = Pick<UserChoice, 'prompt' | 'choices' | 'default'>;

interface State {
  readonly selected: number;
  readonly typed: string;
  /** The call that asks, if there are several. */
  readonly asker: Line;
}

const DEFAULT = say(' (default)', 'dim');

/** A question to the user. Immutable. */
export class Picker {
  /** Minimum height: the prompt, two choices and the keys. The asker is shown only if there are more rows. */
  static readonly minRows = 4;

  constructor(
    private readonly question: Question,
    private readonly state: State = { selected: question.default, typed: '', asker: [] },
  ) {}

  get selected(): number {
    return this.state.selected;
  }

  askedBy(asker: Line): Picker {
    return new Picker(this.question, { ...this.state, asker });
  }

  /** @param key see `Press`; callers handle Enter and Escape */
  press(key: string): Picker {
    const { selected, typed } = this.state;
    const last = this.question.choices.length - 1;
    switch (key) {
      case 'up':
      case 'k':
        return this.#select(Math.max(0, selected - 1));
      case 'down':
      case 'j':
        return this.#select(Math.min(last, selected + 1));
      case 'home':
        return this.#select(0);
      case 'end':
        return this.#select(last);
      default: {
        if (!/^\d$/.test(key)) return this;
        // `1` then `2` selects 12 if there are that many choices, otherwise 2.
        const digits = [typed + key, key].find(index => Number(index) <= last);
        return digits === undefined ? this : this.#select(Number(digits), digits);
      }
    }
  }

  /**
   * The asker, the prompt and the choices around the cursor as rows of the terminal, and the key hints for the line below them.
   * @param size includes the row of the keys
   * @param hints for Esc and Ctrl-C
   */
  draw(
    { columns, rows }: Size,
    theme: Theme,
    hints = { onEscape: 'default', onInterrupt: 'cancel' },
  ): { readonly rows: readonly string[]; readonly keys: Line } {
    const { asker, selected } = this.state;
    const { prompt, choices } = this.question;
    const hasAsker = asker.length > 0 && rows > Picker.minRows;
    const head = hasAsker ? [styleLine(cutLine(asker, columns), theme)] : [];
    const below = rows - head.length - 1; // the keys
    const { length } = choices;
    const fewest = Math.min(length, Math.ceil((below + 1) / 2));
    const text = promptRows(prompt, { columns, rows: Math.max(1, below - fewest) }, theme);
    const room = Math.max(1, below - text.length);
    const from = Math.max(0, Math.min(selected - Math.floor(room / 2), length - room));
    const labels = choices
      .slice(from, from + room)
      .map((label, index) => styleLine(this.#choiceLine(from + index, label, columns), theme));
    const keys = hintsLine(
      [
        ['↑↓', labels.length < length ? `${selected + 1} of ${length}` : 'select'],
        ['Ctrl-C', hints.onInterrupt],
      ],
      [
        ['⏎', 'choose'],
        ['Esc', hints.onEscape],
      ],
      columns,
    );
    return { rows: [...head, ...text, ...labels], keys };
  }

  #select(selected: number, typed = ''): Picker {
    return new Picker(this.question, { ...this.state, selected, typed });
  }

  /** The label may be cut; the index and the mark of the default are always shown. */
  #choiceLine(index: number, label: string, columns: number): Line {
    const isSelected = index === this.selected;
    const digits = String(this.question.choices.length - 1).length;
    const head = [cursorMark(isSelected), say(`${String(index).padStart(digits)} `, 'dim')];
    const tail = index === this.question.default ? [DEFAULT] : [];
    const start = label.slice(0, 2 * columns); // a label may have ten megabytes
    const text = quote(start.length < label.length ? `${start}…` : start, isSelected ? 'running' : 'plain');
    return [...head, ...cutLine(text, columns - widthOf(head) - widthOf(tail)), ...tail];
  }
}

function promptRows(prompt: string, { columns, rows }: Size, theme: Theme): readonly string[] {
  const { lines } = textLines(prompt, rows + 1);
  const bold = lines.map(titleLine);
  if (rows === 1) {
    // The prompt itself must be visible, not only a count of hidden rows.
    const [first = [], ...others] = bold;
    const start: Line = others.length > 0 ? [...first, say(' …', 'dim')] : first;
    return [styleLine(cutLine(start, columns), theme)];
  }
  const more = (count: number) => styleLine([say(`… ${count} more rows`, 'dim')], theme);
  const wrapped = bold.flatMap(line => wrapLine(line, columns, theme));
  return fitRows(wrapped, rows, more);
}
