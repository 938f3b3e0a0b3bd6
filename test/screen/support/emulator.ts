import { Unicode11Addon } from '@xterm/addon-unicode11';
import headless from '@xterm/headless';
import { type Cell, cellAt } from './cell.js';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What foreign text must never reach. */
export interface Mischief {
  /** Every operating system command: title, hyperlink, clipboard, working directory, … */
  readonly commands: readonly string[];
  readonly titles: readonly string[];
  readonly bells: number;
}

const DEADLINE_MS = 120_000;
const COMMANDS = [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 22, 52, 133, 777, 1337];
const SHOW_CURSOR = 25;
const SYNCHRONIZED_UPDATE = 2026;

/** A terminal without a window: what is written to it, and what a person would see of that. */
export class Emulator {
  readonly #terminal: InstanceType<typeof headless.Terminal>;
  readonly #mischief = { commands: [] as string[], titles: [] as string[], bells: 0 };
  readonly #colours = new Set<number>();
  #raw = '';
  #isCursorVisible = true;
  #isUpdating = false;

  constructor({ columns, rows }: Size) {
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback: 10_000,
      allowProposedApi: true,
    });
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = '11';
    this.#watch();
  }

  /** Resolves once it is on the screen. */
  write(data: string): Promise<void> {
    this.#raw += data;
    return new Promise(resolve => this.#terminal.write(data, resolve));
  }

  resize({ columns, rows }: Size): void {
    this.#terminal.resize(columns, rows);
  }

  /** Everything that was ever written. */
  get raw(): string {
    return this.#raw;
  }

  get mischief(): Mischief {
    return this.#mischief;
  }

  /** SGR parameters that set a colour, ever. */
  get colours(): ReadonlySet<number> {
    return this.#colours;
  }

  get isCursorVisible(): boolean {
    return this.#isCursorVisible;
  }

  /** It sends mouse events, or marks pasted text. */
  get isReporting(): boolean {
    const { mouseTrackingMode, bracketedPasteMode } = this.#terminal.modes;
    return mouseTrackingMode !== 'none' || bracketedPasteMode;
  }

  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  /** The rows on the screen, without trailing blanks. */
  rows(): string[] {
    const { baseY } = this.#terminal.buffer.active;
    return this.#lines(baseY, baseY + this.#terminal.rows);
  }

  /** The rows above the screen. */
  scrollback(): string[] {
    return this.#lines(0, this.#terminal.buffer.active.baseY);
  }

  /** Scrollback and screen as one text, without empty rows at the end. */
  history(): string {
    return [...this.scrollback(), ...this.rows()].join('\n').trimEnd();
  }

  /** The screen as one text. */
  text(): string {
    return this.rows().join('\n').trimEnd();
  }

  /** Every cell of the screen. */
  cells(): Cell[] {
    return Array.from({ length: this.#terminal.rows }, (_, row) => this.#cellsOfRow(row)).flat();
  }

  /** The cells of the first piece of the screen that reads so. @throws Error where none exists. */
  cellsOf(text: string): Cell[] {
    const row = this.rows().findIndex(line => line.includes(text));
    if (row < 0) throw new Error(`not on the screen: ${JSON.stringify(text)}\n${this.text()}`);
    const line = this.#cellsOfRow(row);
    const from = line
      .map(({ text: each }) => each)
      .join('')
      .indexOf(text);
    let column = 0;
    return line.filter(cell => {
      const start = column;
      column += cell.text.length;
      return start >= from && start < from + text.length;
    });
  }

  /** Resolves as soon as it holds for a whole frame: of one that is half drawn, a person sees nothing. @throws Error with what is on the screen, after 2 minutes. */
  waitFor(what: string, holds: () => boolean): Promise<void> {
    const isSeen = () => !this.#isUpdating && holds();
    if (isSeen()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        watching.dispose();
        clearTimeout(timer);
        end();
      };
      const watching = this.#terminal.onWriteParsed(() => {
        if (isSeen()) settle(resolve);
      });
      const timer = setTimeout(
        () => settle(() => reject(new Error(`without success: ${what}; the screen shows\n${this.text()}`))),
        DEADLINE_MS,
      );
    });
  }

  /** What a row had beyond its end, before it became narrower, is kept and not seen. */
  #lines(from: number, to: number): string[] {
    const { cols } = this.#terminal;
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: to - from },
      (_, index) =>
        active
          .getLine(from + index)
          ?.translateToString(true, 0, cols)
          .trimEnd() ?? '',
    );
  }

  #cellsOfRow(row: number): Cell[] {
    const { baseY } = this.#terminal.buffer.active;
    const line = this.#terminal.buffer.active.getLine(baseY + row);
    return Array.from({ length: line ? this.#terminal.cols : 0 }, (_, column) => line?.getCell(column))
      .filter(cell => cell !== undefined)
      .filter(cell => cell.getWidth() > 0)
      .map(cellAt);
  }

  #watch(): void {
    const { parser } = this.#terminal;
    for (const command of COMMANDS)
      parser.registerOscHandler(command, data => {
        this.#mischief.commands.push(`${command};${data}`);
        return false;
      });
    this.#terminal.onTitleChange(title => this.#mischief.titles.push(title));
    this.#terminal.onBell(() => this.#mischief.bells++);
    for (const [final, isSet] of [
      ['h', true],
      ['l', false],
    ] as const)
      parser.registerCsiHandler({ prefix: '?', final }, modes => {
        if (modes.includes(SHOW_CURSOR)) this.#isCursorVisible = isSet;
        if (modes.includes(SYNCHRONIZED_UPDATE)) this.#isUpdating = isSet;
        return false;
      });
    parser.registerCsiHandler({ final: 'm' }, parameters => {
      for (const parameter of parameters.flat()) if (isColour(parameter)) this.#colours.add(parameter);
      return false;
    });
  }
}

function isColour(parameter: number): boolean {
  return (parameter >= 30 && parameter < 50 && parameter % 10 !== 9) || (parameter >= 90 && parameter < 108);
}
