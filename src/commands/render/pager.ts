import { type Line, quote, say } from '../../render/line.js';
import { cutLine } from '../../render/terminal/fit.js';
import { styleLine, type Theme } from '../../render/terminal/theme.js';
import { systemClock } from '../../system/clock.js';
import { fullScreen } from '../../tui/full-screen.js';
import type { Frame } from '../../tui/ink.js';
import type { Press } from '../../tui/keys.js';
import type { Size } from '../../tui/terminal.js';
import { type ExitStatus, Interruption, type Terminal } from '../terminal.js';

/** Shows rows full screen until the user quits or a signal arrives. @param rowsFor creates the rows for a width */
export async function showFullScreen(
  name: string,
  rowsFor: (width: number) => Iterator<string>,
  theme: Theme,
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
): Promise<ExitStatus> {
  const interrupted = new Interruption();
  try {
    const pager = new Pager(name, rowsFor, theme);
    const screen = fullScreen(() => pager, { stdin, stdout, clock: systemClock });
    await new Promise<void>(resolve => {
      pager.onQuit = resolve;
      interrupted.onSignal(resolve);
    });
    await screen.close();
    return interrupted.status ?? 0;
  } finally {
    interrupted.release();
  }
}

/** Returns how many rows a key scrolls, for the height of a page. */
const STEPS: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  enter: () => 1,
  pageup: page => -page,
  b: page => -page,
  pagedown: page => page,
  space: page => page,
};

/** The rows of a long text, created only as far as the user has scrolled. */
class Pager {
  onQuit = () => {};
  #top = 0;
  #size: Size = { columns: 0, rows: 0 };
  #rows: string[] = [];
  #rest: Iterator<string> | null = null;

  constructor(
    private readonly name: string,
    private readonly rowsFor: (width: number) => Iterator<string>,
    private readonly theme: Theme,
  ) {}

  press({ name: pressed }: Press): void {
    if (['q', 'escape', 'ctrl+c'].includes(pressed)) this.onQuit();
    else if (['home', 'g'].includes(pressed)) this.#top = 0;
    else if (['end', 'G'].includes(pressed)) this.#top = this.#last();
    else this.#top += STEPS[pressed]?.(this.#height) ?? 0;
  }

  frame(size: Size): Frame {
    if (size.columns !== this.#size.columns) {
      this.#rows = [];
      this.#rest = this.rowsFor(size.columns);
    }
    this.#size = size;
    this.#make(this.#top + this.#height);
    this.#top = Math.max(0, Math.min(this.#top, this.#rows.length - this.#height));
    const shown = this.#rows.slice(this.#top, this.#top + this.#height);
    const footer = styleLine(cutLine(this.#foot(this.#top + shown.length), size.columns), this.theme);
    return { header: [], body: shown, footer, isRunning: false };
  }

  /** The frame is one row shorter than the terminal, and the footer takes one row. */
  get #height(): number {
    return Math.max(1, this.#size.rows - 2);
  }

  #foot(end: number): Line {
    const count = `${this.#rows.length}${this.#rest ? '+' : ''}`;
    return [
      say(`rows ${this.#top + 1}–${end} of ${count} · q quit · ↑↓ PgUp PgDn Home End scroll  `, 'dim'),
      ...quote(this.name),
    ];
  }

  #last(): number {
    this.#make(Number.POSITIVE_INFINITY);
    return this.#rows.length - this.#height;
  }

  /** Creates one row more than requested, to detect whether there are more. */
  #make(count: number): void {
    while (this.#rest && this.#rows.length <= count) {
      const next = this.#rest.next();
      if (next.done) this.#rest = null;
      else this.#rows.push(next.value);
    }
  }
}
