import type { Event } from '../events/events.js';
import { type Line, quote, say, type Tone } from '../render/line.js';
import { Highlighter, loadLexers } from '../render/syntax.js';
import type { ColourLevel } from '../render/terminal/colour-level.js';
import { cutLine, fitRows } from '../render/terminal/fit.js';
import { createTheme, styleLine, type Theme } from '../render/terminal/theme.js';
import type { Clock } from '../system/clock.js';
import { Memo } from '../util/collections.js';
import { type AnyList, ListDetail } from './calls/list-detail.js';
import type { Frame } from './ink.js';
import { bind, type Hint, hintsLine, type Keys, type Place, type Press, pressesIn } from './keys.js';
import { wrapLines } from './layout.js';
import type { Picker } from './picker.js';
import type { Size } from './terminal.js';
import { TextInput } from './text-input.js';

/** A page, question or prompt that covers the screen, or a part of it, until it is closed. */
type Overlay =
  | {
      readonly kind: 'page';
      /** Null on the help page, where the keys of the screen work, and close it. */
      readonly title: Line | null;
      readonly lines: (columns: number) => readonly Line[];
      readonly scroll: number;
    }
  | {
      readonly kind: 'prompt';
      readonly label: string;
      readonly typed: TextInput;
      readonly onEnter: (text: string) => void;
      /** The possible completions, sorted. */
      readonly complete?: (typed: string) => Promise<readonly string[]>;
    }
  | {
      readonly kind: 'question';
      readonly picker: Picker;
      readonly onPick: (selected: number) => void;
      readonly onEscape?: () => void;
      readonly escapeHint: string;
    };

type OverlayOf<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

export interface ScreenOptions {
  readonly clock: Clock;
  readonly level: ColourLevel;
}

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

/** The keys that cancel a prompt. */
const CANCELS: ReadonlySet<string> = new Set(['escape', 'ctrl+c']);

const PAGE_HINTS: readonly Hint[] = [['↑↓ PgUp PgDn', 'scroll']];

const PAGE_ENDS: readonly Hint[] = [
  ['Esc', 'close'],
  ['Ctrl-C', 'quit'],
];

const MAX_CANDIDATES = 30;

const QUESTION_SHARE = 2 / 3;

/** Minimum height, in rows, for a title below the head and for notices of several rows. */
const MIN_ROWS_FOR_TITLE = 16;

const MAX_NOTICES = 4;

/** How long a notice is shown, in ms. */
const SHOWN_MS = 6_000;

/** A full screen with a list, its details, notices and overlays. It never blocks the server whose events it receives. */
export abstract class ListScreen {
  abstract readonly list: AnyList;
  protected abstract readonly keys: Keys<this>;
  /** The latest notice about the server, about a key, and about events that belong to no call. */
  readonly #notices = new Map<'server' | 'key' | 'event', { lines: readonly Line[]; until: number }>();
  readonly theme: Theme;
  overlay: Overlay | null = null;
  readonly #clock: Clock;
  /** The clock time of the first event. */
  #start: number;
  /** The maximum scroll position of the page that covers the screen. */
  #maxScroll = 0;
  readonly #pages = new Memo<readonly string[]>();
  readonly #highlighter: () => Highlighter | null;

  /** @param onChange called after changes that neither a key nor an event caused */
  constructor(
    { clock, level }: ScreenOptions,
    protected readonly onChange: () => void,
  ) {
    this.#clock = clock;
    this.#start = clock.now();
    this.theme = createTheme(level);
    this.#highlighter = level < 2 ? () => null : lazyHighlighter(onChange);
  }

  /** The places where keys are looked up, in order. */
  protected get places(): readonly Place[] {
    return [this.list.isReading ? 'reading' : 'list', 'calls', 'everywhere'];
  }

  /** @param isRoomy there is room for more than the necessary lines */
  protected abstract head(columns: number, isRoomy: boolean): readonly Line[];
  protected abstract quit(): void;

  protected listDetail<Entry, Tab extends string>(
    description: ConstructorParameters<typeof ListDetail<Entry, Tab>>[0],
  ): ListDetail<Entry, Tab> {
    return new ListDetail(description, this.theme, this.#highlighter, text => this.say(text));
  }

  /** Milliseconds since the first event. */
  get now(): number {
    return this.#clock.now() - this.#start;
  }

  event({ at }: Event): void {
    this.#start = this.#clock.now() - at;
  }

  /** Reports a message about the server itself; an error stays until the next message. */
  notice(text: string, isBad = false): void {
    const lines = text.split('\n').map(line => quote(line, isBad ? 'bad' : 'good'));
    this.note('server', lines, isBad);
    this.onChange();
  }

  say(text: string, tone: Tone = 'plain'): void {
    this.note('key', [quote(text, tone)]);
    this.onChange();
  }

  /** Replaces the notice of this kind. Returns when it ends. @param stays until it is replaced */
  note(kind: 'server' | 'key' | 'event', lines: readonly Line[], stays = false): number {
    const until = stays ? Number.POSITIVE_INFINITY : this.now + SHOWN_MS;
    this.#notices.set(kind, { lines, until });
    return until;
  }

  /** Removes the notice about the previous key. */
  forgetKey(): void {
    this.#notices.delete('key');
  }

  readonly askSearch = (): void => {
    this.ask('/', text => this.list.search(text));
  };

  ask(
    label: string,
    onEnter: (text: string) => void,
    { text = '', ...more }: Pick<OverlayOf<'prompt'>, 'complete'> & { text?: string } = {},
  ): void {
    this.show({ kind: 'prompt', label, typed: new TextInput(text), onEnter, ...more });
  }

  show(overlay: Overlay | null): void {
    this.overlay = overlay;
    this.onChange();
  }

  readonly toggleHelp = (): void => {
    const { keys, places } = this;
    this.show({ kind: 'page', title: null, lines: () => keys.lines(places), scroll: 0 });
  };

  /** Text pasted after the line feed of a prompt is ignored, except Ctrl-C: it must not run commands. */
  press(pressed: Press): void {
    const isPrompt = this.overlay?.kind === 'prompt';
    let isOver = false;
    let ignored = '';
    for (const press of pressesIn(pressed, isPrompt ? 'line' : this.typing)) {
      const { name } = press;
      if (isOver && name !== 'ctrl+c') ignored += press.text;
      else this.#press(press);
      isOver ||= isPrompt && (name === 'enter' || CANCELS.has(name));
    }
    if (ignored.trim() === '') return;
    const words = say('Ignored, because it was pasted after the end of the line: ', 'warn');
    this.note('event', [[words, ...quote(ignored.trim())]]);
  }

  frame({ columns, rows }: Size): Frame {
    const { now, overlay, theme } = this;
    const height = Math.max(1, rows - 1);
    const draw = (line: Line) => styleLine(cutLine(line, columns), theme);
    const isRoomy = height >= MIN_ROWS_FOR_TITLE;
    const notices = [...this.#notices.values()].filter(({ until }) => until > now);
    const lines = notices.flatMap(each => each.lines);
    const said = isRoomy
      ? fitRows(wrapLines(lines, columns, theme), MAX_NOTICES, count =>
          styleLine([say(`… ${count} more rows`, 'dim')], theme),
        )
      : lines.slice(-1).map(draw);
    const header = this.head(columns, isRoomy)
      .map(draw)
      .slice(0, height - said.length - 1);
    const left = height - header.length - said.length - 1;
    const asked = overlay?.kind === 'question' ? this.#asked(overlay, { columns, rows: left }) : null;
    const question = asked?.rows.slice(0, Math.max(0, left - 1));
    const room = { columns, rows: left - (question ? question.length + 1 : 0) };
    const { body, isRunning } =
      overlay?.kind === 'page'
        ? { body: this.#pageRows(overlay, room, isRoomy), isRunning: false }
        : this.body(room, isRoomy);
    return {
      header,
      body,
      ...(question && { question }),
      notices: said,
      footer: draw(asked?.keys ?? this.#footer(columns)),
      edge: line => theme.paint(say(line, 'dim')),
      isRunning: isRunning || notices.some(({ until }) => Number.isFinite(until)),
    };
  }

  protected body(size: Size, isRoomy: boolean): Pick<Frame, 'body' | 'isRunning'> {
    const { isRunning, ...body } = this.list.frame(size, isRoomy);
    return { body, isRunning };
  }

  /** How pasted text is treated. */
  protected get typing(): 'keys' | 'text' {
    return 'keys';
  }

  protected beforeKey(_name: string): void {}

  /** Handles a press that is not in the key table. */
  protected typed(_press: Press): void {}

  protected get hints(): { readonly hints: readonly Hint[]; readonly ends: readonly Hint[] } {
    return { hints: this.keys.hints(this.places, this), ends: ENDS };
  }

  #press(press: Press): void {
    const { name } = press;
    const { overlay } = this;
    this.beforeKey(name);
    if (overlay?.kind === 'prompt' && CANCELS.has(name)) this.show(null);
    else if (name === 'ctrl+c') this.quit();
    else if (!overlay) this.#pressKey(press);
    else if (overlay.kind === 'page') this.#pressOnPage(overlay, press);
    else if (name === 'escape') {
      this.show(null);
      if (overlay.kind === 'question') overlay.onEscape?.();
    } else if (overlay.kind === 'prompt') this.#pressPrompt(overlay, press);
    else if (name !== 'enter') this.show({ ...overlay, picker: overlay.picker.press(name) });
    else {
      this.show(null);
      overlay.onPick(overlay.picker.selected);
    }
  }

  #pressKey(press: Press): void {
    const { name } = press;
    const binding = this.keys.find(name, this.places);
    if (!binding) return void this.typed(press);
    if (name !== 'q' && binding.place !== 'form') this.forgetKey(); // a form keeps it until it changes
    binding.run(this);
  }

  #pressOnPage(overlay: OverlayOf<'page'>, press: Press): void {
    const { name } = press;
    const by = SCROLLS[name];
    const isBound = by === undefined && !CLOSES.has(name) && this.keys.find(name, this.places);
    const isMeant = overlay.title === null && isBound;
    if (by !== undefined)
      this.show({ ...overlay, scroll: Math.max(0, Math.min(this.#maxScroll, overlay.scroll + by)) });
    else if (isMeant || CLOSES.has(name)) this.show(null);
    if (isMeant) this.#pressKey(press);
  }

  #pressPrompt(overlay: OverlayOf<'prompt'>, press: Press): void {
    const { name } = press;
    if (name === 'tab') return void this.#complete(overlay);
    if (name !== 'enter') return void this.show({ ...overlay, typed: overlay.typed.press(press) });
    this.show(null);
    overlay.onEnter(overlay.typed.text);
  }

  async #complete(overlay: OverlayOf<'prompt'>): Promise<void> {
    const { text, cursor } = overlay.typed;
    const typed = text.slice(0, cursor);
    const found = await overlay.complete?.(typed);
    if (this.overlay !== overlay || !found) return; // the user continued typing, or left
    this.show({ ...overlay, typed: overlay.typed.completed(found) });
    const names = found.map(path => path.replace(/^.*\/(?=.)/, ''));
    const more = names.length > MAX_CANDIDATES ? [`and ${names.length - MAX_CANDIDATES} more`] : [];
    if (found.length === 0) this.say(`Nothing begins with ${typed}`, 'bad');
    else if (found.length > 1) this.say([...names.slice(0, MAX_CANDIDATES), ...more].join('  '), 'good');
  }

  #asked({ picker, escapeHint }: OverlayOf<'question'>, { columns, rows }: Size) {
    const maxRows = Math.max(3, Math.floor(rows * QUESTION_SHARE) - 1);
    const hints = { onEscape: escapeHint, onInterrupt: 'quit' };
    return picker.draw({ columns, rows: maxRows }, this.theme, hints);
  }

  #footer(columns: number): Line {
    const { overlay } = this;
    if (overlay?.kind === 'prompt') {
      const { label, typed } = overlay;
      return [say(label, 'title'), ...typed.line(Math.max(4, columns - label.length))];
    }
    const { hints, ends } = overlay ? { hints: PAGE_HINTS, ends: PAGE_ENDS } : this.hints;
    return hintsLine(hints, ends, columns);
  }

  /** The visible part of a page; the last row shows how many rows are below. */
  #pageRows({ title, lines, scroll }: OverlayOf<'page'>, { columns, rows }: Size, isRoomy: boolean) {
    const { theme } = this;
    const all = this.#pages.of([lines, columns], () => wrapLines(lines(columns), columns, theme));
    const head = [
      ...(isRoomy ? [''] : []),
      ...(title === null ? [] : [styleLine(cutLine(title, columns), theme), '']),
    ];
    const height = Math.max(1, rows - head.length);
    this.#maxScroll = Math.max(0, all.length - height);
    const seen = all.slice(Math.min(scroll, this.#maxScroll));
    return [
      ...head,
      ...fitRows(seen, height, count => styleLine([say(`… ${count} more rows`, 'dim')], theme)),
    ];
  }
}

/** Loads the highlighter, which takes a moment, when it is first asked for it; null until then. */
function lazyHighlighter(onLoad: () => void): () => Highlighter | null {
  let highlighter: Highlighter | null = null;
  let isAsked = false;
  return () => {
    if (!isAsked)
      void loadLexers().then(({ lexerFor }) => {
        highlighter = new Highlighter(lexerFor);
        onLoad();
      });
    isAsked = true;
    return highlighter;
  };
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

type WithList = Pick<ListScreen, 'list' | 'askSearch'>;

export const unlessEmpty =
  <Shown extends Hint | string>(hint: Shown) =>
  ({ list }: WithList) =>
    list.isEmpty ? null : hint;

const ask = ({ askSearch }: WithList) => askSearch();

type Command = Parameters<AnyList['read']>[0];

const inList = (keys: string, does: string, run: (list: AnyList) => void, hint?: Hint | string) =>
  bind<WithList>('list', keys, does, ({ list }) => run(list), hint && unlessEmpty(hint));

const inReading = (keys: string, does: string, run: (list: AnyList) => void, hint?: Hint | string) =>
  bind<WithList>('reading', keys, does, ({ list }) => run(list), hint);

const whileReading = (keys: string, does: string, command: Command, hint?: Hint | string) =>
  inReading(keys, does, list => list.read(command), hint);

export const LIST_KEYS = [
  inList('up k', 'the previous entry', list => list.move(-1), ['↑↓', 'select']),
  inList('down j', 'the next entry', list => list.move(1)),
  inList('enter right', 'read it', list => list.moveFocus(1), 'read'),
  inList('home g', 'the first entry', list => list.move(Number.NEGATIVE_INFINITY)),
  inList('end G', 'the last entry; new calls are followed', list => list.last()),
  inList('tab', 'the next pane', list => list.moveFocus(1)),
  inList('shift+tab', 'the previous pane', list => list.moveFocus(-1)),
  inList('pagedown space', 'scroll the details down', list => list.read('pageDown')),
  inList('pageup', 'scroll the details up', list => list.read('pageUp')),
  bind<WithList>('list', '/', 'search the list', ask, unlessEmpty('search')),
  inList('z', 'show or fold unchanged lines, or rules that passed', list => list.read('fold')),
  inList('n', 'the next match', list => list.nextMatch(1)),
  inList('N', 'the previous match', list => list.nextMatch(-1)),
];

export const READING_KEYS = [
  whileReading('up k', 'a line up', 'lineUp', ['↑↓', 'scroll']),
  whileReading('down j', 'a line down', 'lineDown'),
  whileReading('pagedown space', 'a page down', 'pageDown'),
  whileReading('pageup', 'a page up', 'pageUp'),
  whileReading('home g', 'the first line', 'top'),
  whileReading('end G', 'the last line', 'bottom'),
  whileReading('left h', 'scroll left (unwrapped lines)', 'left'),
  whileReading('right l', 'scroll right', 'right'),
  bind<WithList>('reading', '/', 'search', ask, 'search'),
  whileReading('n', 'the next match', 'nextMatch'),
  whileReading('N', 'the previous match', 'previousMatch'),
  inReading('tab', 'the next pane', list => list.moveFocus(1), 'pane'),
  inReading('shift+tab', 'the previous pane', list => list.moveFocus(-1)),
  inReading('m', 'this pane only, or all panes', list => list.toggle('isZoomed'), 'zoom'),
  inReading('escape', 'back to the list', list => list.toList(), 'list'),
  bind<WithList>(
    'reading',
    ']',
    'the next hunk',
    ({ list }) => list.read('nextHunk'),
    ({ list }) => (list.hasHunks ? 'next hunk' : null),
  ),
  whileReading('[', 'the previous hunk', 'previousHunk'),
  whileReading('}', 'the next file', 'nextFile'),
  whileReading('{', 'the previous file', 'previousFile'),
  whileReading('w', 'wrap or cut long lines', 'wrap'),
  whileReading('v', 'diff side by side, or unified', 'split'),
  whileReading('z', 'show or fold unchanged lines, or rules that passed', 'fold'),
];

export function tabKeys(place: 'tools' | 'calls', tabs: readonly { readonly title: string }[]) {
  const keys = tabs.map(({ title }, index) => {
    const isFirst = index === 0 && place === 'calls';
    const hint = isFirst ? unlessEmpty([`1-${tabs.length}`, 'tabs'] as const) : null;
    return bind<WithList>(place, `${index + 1}`, title, ({ list }) => list.showTab(index), hint);
  });
  const bytes = bind<WithList>('calls', 'b', 'show or hide raw bytes in the timeline', ({ list }) =>
    list.toggle('showsBytes'),
  );
  return place === 'calls' ? [...keys, bytes] : keys;
}
