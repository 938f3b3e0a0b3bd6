import type { Key } from 'ink';
import type { Event } from '../events/events.js';
import { type Line, quote, say } from '../render/line.js';
import type { ColourLevel } from '../render/terminal/colour-level.js';
import { createTheme, cutLine, dressLine, type Theme } from '../render/terminal/theme.js';
import type { Clock } from '../system/clock.js';
import { Memo } from '../util/collections.js';
import type { AnyList, HasList } from './calls/list-detail.js';
import { layScreen, type ScreenView } from './full-screen/full-screen.js';
import {
  behindLine,
  bindingOf,
  type Hint,
  hintsLine,
  hintsOf,
  type KeyBinding,
  keyLines,
  lineTypedIn,
  nameOf,
  type Place,
  type Press,
  pressesIn,
  tablesOf,
} from './keys.js';
import { Notices, type Scrolled, scrolled, wrapLines } from './layout.js';
import { type Askable, type Asked, askedIn, type Picker, stepPicker } from './picker.js';
import type { Size } from './terminal.js';
import { completed, promptLine, stepPrompt, TextInput } from './text-input.js';

/** What covers the screen, or a part of it, until it is closed. */
export type Overlay =
  | { readonly kind: 'help'; readonly scroll: number }
  | {
      readonly kind: 'page';
      readonly title: Line;
      /** The lines for so many columns. */
      readonly lines: (columns: number) => readonly Line[];
      readonly scroll: number;
    }
  | {
      readonly kind: 'prompt';
      readonly label: string;
      readonly typed: TextInput;
      readonly onEnter: (text: string) => void;
      /** The texts that may follow, sorted. */
      readonly complete?: (typed: string) => Promise<readonly string[]>;
    }
  | {
      readonly kind: 'question';
      readonly picker: Picker<Askable>;
      readonly onPick: (selected: number) => void;
      readonly onEscape?: () => void;
      readonly escapeHint: string;
    };

type OverlayOf<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

/** Rows, and whether they change as time goes on. */
interface Page {
  readonly rows: readonly string[];
  readonly isRunning: boolean;
}

export interface ScreenOptions {
  readonly clock: Clock;
  readonly level: ColourLevel;
}

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

const PAGE_HINTS: readonly Hint[] = [['↑↓ PgUp PgDn', 'scroll']];

const PAGE_ENDS: readonly Hint[] = [
  ['Esc', 'close'],
  ['Ctrl-C', 'quit'],
];

/** The names that are listed for a completion. */
const MOST_CANDIDATES = 30;

/** A question takes this much of the height. */
const QUESTION_SHARE = 2 / 3;

/** A full screen with a list and its details: keys, notices, and what may cover it. */
export abstract class ListScreen implements ScreenView, HasList {
  abstract readonly list: AnyList;
  protected abstract readonly bindings: readonly KeyBinding<this>[];
  readonly notices = new Notices();
  readonly theme: Theme;
  overlay: Overlay | null = null;
  readonly #clock: Clock;
  /** When the events began, by the clock. */
  #start: number;
  /** How far the page that covers the screen can be scrolled. */
  #most = 0;
  readonly #help = new Memo<readonly string[]>();

  /** @param onChange called when something has changed without a key and without an event */
  constructor(
    { clock, level }: ScreenOptions,
    protected readonly onChange: () => void,
  ) {
    this.#clock = clock;
    this.#start = clock.now();
    this.theme = createTheme(level);
  }

  /** Where keys are looked up, first to last. */
  protected abstract get places(): readonly Place[];
  protected abstract head(columns: number): readonly Line[];
  protected abstract quit(): void;

  /** The ms since the start of the events. */
  get now(): number {
    return this.#clock.now() - this.#start;
  }

  event({ at }: Event): void {
    this.#start = this.#clock.now() - at;
  }

  readonly askSearch = (): void => {
    this.ask('/', text => this.list.search(text));
  };

  /** Asks for a line of text. */
  ask(
    label: string,
    onEnter: (text: string) => void,
    rest: Pick<OverlayOf<'prompt'>, 'complete'> & { text?: string } = {},
  ): void {
    const { text = '', ...more } = rest;
    this.show({ kind: 'prompt', label, typed: new TextInput(text), onEnter, ...more });
  }

  show(overlay: Overlay | null): void {
    this.overlay = overlay;
    this.onChange();
  }

  readonly toggleHelp = (): void => this.show({ kind: 'help', scroll: 0 });

  press(input: string, key: Key): void {
    const press = { input, key };
    const isLine = this.overlay?.kind === 'prompt';
    for (const each of isLine ? lineTypedIn(press) : this.pressesIn(press)) this.#press(each);
    const rest = isLine ? behindLine(press) : '';
    if (rest === '') return;
    const line = [say('Ignored, because it was pasted after the end of the line: ', 'warn'), ...quote(rest)];
    this.notices.event(line, this.now);
  }

  frame(size: Size): Page {
    const { now, overlay, notices } = this;
    const lines = notices.lines(now);
    const asked = (room: Size) => (overlay?.kind === 'question' ? this.#asked(overlay, room) : null);
    const { columns } = size;
    const isCovered = overlay?.kind === 'help' || overlay?.kind === 'page';
    const title = isCovered ? [] : this.title(columns);
    const around = { head: this.head(columns), title, notices: lines, asked, foot: this.#foot(columns) };
    let isRunning = notices.isPassing(now);
    const rows = layScreen(around, size, this.theme, room => {
      const cover = this.#cover(room);
      this.#most = cover?.most ?? 0;
      if (cover) return cover.rows;
      const page = this.body(room);
      isRunning ||= page.isRunning;
      return page.rows;
    });
    return { rows, isRunning };
  }

  /** The row above the body. */
  protected title(columns: number): Line {
    return this.list.edge(columns);
  }

  protected body(size: Size): Page {
    return this.list.frame(size);
  }

  /** Several keys may arrive at once. */
  protected pressesIn(press: Press): readonly Press[] {
    return pressesIn(press);
  }

  protected beforeKey(_name: string): void {}

  /** Handles a press outside the key table. */
  protected typed(_press: Press): void {}

  protected isKey(press: Press): boolean {
    return bindingOf(this.bindings, nameOf(press), this.places) !== undefined;
  }

  protected get hints(): { readonly hints: readonly Hint[]; readonly ends: readonly Hint[] } {
    return { hints: hintsOf<this>(this.bindings, this.places, this), ends: ENDS };
  }

  /** For the help page. */
  protected get tables() {
    return tablesOf(this.bindings, this.places);
  }

  #press(press: Press): void {
    const name = nameOf(press);
    this.beforeKey(name);
    if (name === 'ctrl+c') this.quit();
    else if (this.overlay) this.#pressOverlay(this.overlay, press);
    else this.#pressPage(press);
  }

  #pressPage(press: Press): void {
    const name = nameOf(press);
    const binding = bindingOf<this>(this.bindings, name, this.places);
    if (!binding) return void this.typed(press);
    if (name !== 'q') this.notices.forgetKey();
    binding.run(this);
  }

  #pressOverlay(overlay: Overlay, press: Press): void {
    const name = nameOf(press);
    if (overlay.kind === 'help' || overlay.kind === 'page') this.#pressCover(overlay, press);
    else if (name === 'escape') {
      this.show(null);
      if (overlay.kind === 'question') overlay.onEscape?.();
    } else if (overlay.kind === 'prompt') this.#pressPrompt(overlay, press);
    else this.#pressQuestion(overlay, name);
  }

  /** Keys of the screen work on its help page, and close it. */
  #pressCover(overlay: OverlayOf<'help' | 'page'>, press: Press): void {
    const pressed = pressedOnPage(nameOf(press), overlay.scroll, this.#most);
    if (typeof pressed === 'number') return void this.show({ ...overlay, scroll: pressed });
    const isMeant = pressed === null && overlay.kind === 'help' && this.isKey(press);
    if (pressed === 'close' || isMeant) this.show(null);
    if (isMeant) this.#pressPage(press);
  }

  #pressPrompt(overlay: OverlayOf<'prompt'>, press: Press): void {
    const name = nameOf(press);
    if (name === 'tab') return void this.#complete(overlay);
    if (name !== 'enter') return void this.show({ ...overlay, typed: stepPrompt(overlay.typed, press) });
    this.show(null);
    overlay.onEnter(overlay.typed.text);
  }

  async #complete(overlay: OverlayOf<'prompt'>): Promise<void> {
    const { text, cursor } = overlay.typed;
    const typed = text.slice(0, cursor);
    const found = await overlay.complete?.(typed);
    if (this.overlay !== overlay || !found) return; // the user typed on, or left
    this.show({ ...overlay, typed: completed(overlay.typed, found) });
    const names = found.map(path => path.replace(/^.*\/(?=.)/, ''));
    const more = names.length > MOST_CANDIDATES ? [`and ${names.length - MOST_CANDIDATES} more`] : [];
    if (found.length === 0) this.notices.key(`Nothing begins with ${typed}`, this.now, 'bad');
    else if (found.length > 1)
      this.notices.key([...names.slice(0, MOST_CANDIDATES), ...more].join('  '), this.now, 'good');
    this.onChange();
  }

  #pressQuestion(overlay: OverlayOf<'question'>, name: string): void {
    if (name !== 'enter') return void this.show({ ...overlay, picker: stepPicker(overlay.picker, name) });
    this.show(null);
    overlay.onPick(overlay.picker.selected);
  }

  #asked({ picker, escapeHint }: OverlayOf<'question'>, { columns, rows }: Size): Asked {
    const most = Math.max(4, Math.floor(rows * QUESTION_SHARE));
    const leaving = { onEscape: escapeHint, onInterrupt: 'quit' };
    const asked = askedIn({ columns, rows: most - 1 }, picker, this.theme, leaving);
    return { ...asked, rows: [this.theme.dim('─'.repeat(columns)), ...asked.rows] };
  }

  #foot(columns: number): Line {
    const { overlay } = this;
    if (overlay?.kind === 'prompt') return promptLine(overlay.label, overlay.typed, columns);
    if (overlay?.kind === 'help' || overlay?.kind === 'page')
      return hintsLine(PAGE_HINTS, PAGE_ENDS, columns);
    const { hints, ends } = this.hints;
    return hintsLine(hints, ends, columns);
  }

  #cover({ columns, rows }: Size): Scrolled | null {
    const { overlay, theme } = this;
    if (overlay?.kind === 'help') {
      const from = [this.places.join(), columns];
      const lines = this.#help.of(from, () => wrapLines(keyLines(this.tables), columns, theme));
      return scrolled(lines, overlay.scroll, rows, theme);
    }
    if (overlay?.kind !== 'page') return null;
    const lines = this.#help.of([overlay.lines, columns], () =>
      wrapLines(overlay.lines(columns), columns, theme),
    );
    const { rows: seen, most } = scrolled(lines, overlay.scroll, Math.max(1, rows - 2), theme);
    return { rows: [dressLine(cutLine(overlay.title, columns), theme), '', ...seen], most };
  }
}

const SCROLLS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -10,
  pagedown: 10,
  space: 10,
  home: Number.NEGATIVE_INFINITY,
  g: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
};

const CLOSES: ReadonlySet<string> = new Set(['escape', 'enter', '?', 'ctrl+g', 'q']);

/** What a key does on a page of text: the new number of rows above, `close`, or null for any other key. */
function pressedOnPage(name: string, scroll: number, most: number): number | 'close' | null {
  const by = SCROLLS[name];
  if (by !== undefined) return Math.max(0, Math.min(most, scroll + by));
  return CLOSES.has(name) ? 'close' : null;
}
