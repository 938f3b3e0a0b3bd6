import { type Line, quote, say } from '../../render/line.js';
import { cutLine, dressLine, fitLine, type Theme, widthOf } from '../../render/terminal/theme.js';
import { excerpt } from '../../util/text.js';
import type { ReadingCommand } from '../document/view.js';
import { bind, type Hint, type KeyBinding } from '../keys.js';
import { aboveSplit, besideSplit, choicesLine, filled, joined, type Split, wrapLines } from '../layout.js';
import type { Size } from '../terminal.js';
import { type LaidSheet, SheetReader, type SheetView } from './sheet.js';
import type { Sheet, SheetLook } from './tabs.js';

/** The visible entries of a list. */
export interface Visible {
  readonly keys: readonly string[];
  /** The index of the selected one among these. */
  readonly selected: number;
}

/** The entries that a list-detail screen shows. */
export interface ListSource<Tab extends string> {
  /** Names the source; reading positions are remembered for each entry of each source. */
  readonly name: string;
  readonly keys: readonly string[];
  /** -1 for an unknown key. */
  readonly indexOf: (key: string) => number;
  /** The entry that is selected as long as the user selects none. */
  readonly preselected: number;
  /** Shown in place of an entry that was selected and is gone; without it the preselected one is shown. */
  readonly gone?: string;
  /** The title of an entry's details. */
  readonly titleOf: (key: string) => string;
  /** The text that search looks into. */
  readonly textOf: (key: string) => string;
  /** Rows above the first entry. */
  readonly headRows: number;
  /** The head and the rows of the visible entries: there may be thousands in the list. */
  readonly rows: (
    visible: Visible,
    columns: number,
  ) => { readonly lines: readonly Line[]; readonly isRunning: boolean };
  readonly sheetOf: (key: string, tab: Tab, look: SheetLook) => Sheet;
  /** Shown while the list is empty. */
  readonly empty: readonly Line[];
}

/** The characters of one text that the search of a list looks into. */
export const MOST_SEARCHED = 100_000;

/** What the user looks at; changed by keys only. */
export interface ListView<Tab extends string> extends SheetView {
  /** Null selects the preselected entry. */
  readonly selected: string | null;
  /** The last search in the list. */
  readonly wanted: string | null;
  readonly tab: Tab;
}

interface ListDetailOptions<Tab extends string> {
  /** Above the list. */
  readonly title: string;
  readonly theme: Theme;
  readonly tabs: readonly { readonly name: Tab; readonly title: string }[];
  readonly source: () => ListSource<Tab>;
  /** From so many columns on the list and the details are side by side. */
  readonly wide: number;
  /** The list's share of the width then. */
  readonly share: number;
  /** The details may be short: the list takes the rows that they do not need. */
  readonly isShort?: true;
  readonly say: (text: string) => void;
}

/** Beside the list, the details still have room for the panes of human and LLM side by side. */
export const WITH_PANES = { wide: 165, share: 0.38 };

/** A list of entries and a sheet with tabs about the selected one. */
export class ListDetail<Tab extends string> {
  view: ListView<Tab>;
  readonly #options: ListDetailOptions<Tab>;
  readonly #reader: SheetReader;
  /** The room in the last frame: keys apply to what was visible. */
  #size: Size = { columns: 80, rows: 20 };

  constructor(options: ListDetailOptions<Tab>) {
    this.#options = options;
    this.#reader = new SheetReader(options.theme);
    const [first] = options.tabs;
    if (!first) throw new Error('a sheet has at least one tab');
    const sheet = { focus: 'list', isZoomed: false, showsBytes: false } as const;
    this.view = { selected: null, wanted: null, tab: first.name, ...sheet };
  }

  get isReading(): boolean {
    return this.view.focus !== 'list';
  }

  get isEmpty(): boolean {
    return this.#options.source().keys.length === 0;
  }

  /** Whether the visible sheet has a diff. */
  get hasHunks(): boolean {
    const laid = this.#laid();
    return laid !== null && this.#reader.hasHunks(laid);
  }

  /** Null if nothing is selected, or the selected entry is gone. */
  get selected(): string | null {
    const { keys } = this.#options.source();
    return keys[this.#index()] ?? null;
  }

  set(change: Partial<ListView<Tab>>): void {
    this.view = { ...this.view, ...change };
  }

  move(by: number): void {
    const { keys } = this.#options.source();
    this.#select(Math.max(0, Math.min(keys.length - 1, Math.max(0, this.#index()) + by)));
  }

  first(): void {
    this.#select(0);
  }

  /** Where the last entry is preselected, new ones are followed. */
  last(): void {
    const { keys, preselected } = this.#options.source();
    this.set({ selected: preselected === keys.length - 1 ? null : (keys.at(-1) ?? null) });
  }

  showTab(index: number): void {
    const tab = this.#options.tabs[index];
    if (tab) this.set({ tab: tab.name, focus: this.isReading ? 0 : 'list' });
  }

  /** Moves the focus to the next or the previous part of the sheet, from the last back to the list. */
  moveFocus(by: 1 | -1): void {
    const { focus } = this.view;
    const count = this.#laid()?.parts.length ?? 0;
    const from = focus === 'list' ? (by > 0 ? -1 : count) : focus;
    const to = from + by;
    if (to < 0 || to >= count) this.toList();
    else this.set({ focus: to, selected: this.selected });
  }

  toList(): void {
    this.set({ focus: 'list', isZoomed: false });
  }

  toggle(what: 'isZoomed' | 'showsBytes'): void {
    this.set({ [what]: !this.view[what] });
  }

  read(command: ReadingCommand): void {
    const laid = this.#laid();
    if (!laid) return;
    this.#say(this.#reader.step(laid, command));
    this.set({ selected: this.selected }); // a reader does not follow the newest any more
  }

  /** Searches the list, or the part of the sheet that has the focus. */
  search(wanted: string): void {
    if (!this.isReading) {
      this.set({ wanted });
      this.nextMatch(1);
      return;
    }
    const laid = this.#laid();
    if (laid) this.#say(this.#reader.search(laid, wanted));
  }

  /** The next entry with the wanted text, round and round. */
  nextMatch(step: 1 | -1): void {
    const { wanted } = this.view;
    if (wanted === null || wanted === '') return void this.#say('nothing is searched for');
    const { keys, textOf } = this.#options.source();
    const needle = wanted.toLowerCase();
    const from = Math.max(0, this.#index());
    for (let away = 1; away <= keys.length; away++) {
      const index = (from + step * away + keys.length * 2) % keys.length;
      if (
        textOf(keys[index] ?? '')
          .toLowerCase()
          .includes(needle)
      )
        return void this.#select(index);
    }
    this.#say(`not found: ${excerpt(wanted)}`);
  }

  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean } {
    this.#size = size;
    const { theme, source } = this.#options;
    const { keys, empty } = source();
    if (keys.length === 0)
      return { rows: filled(wrapLines(empty, size.columns, theme), size.rows), isRunning: false };
    const split = this.#split();
    const { lines, isRunning } =
      split.list.rows === 0 ? { lines: [], isRunning: false } : this.#listLines(split.list);
    const list = lines.map(line => dressLine(cutLine(line, split.list.columns), theme));
    const edge = dressLine(edgeLine(this.#title, size.columns), theme);
    return { rows: joined(split, list, this.#detailRows(split), edge, theme), isRunning };
  }

  /** The upper edge of the panels with their titles. */
  edge(columns: number): Line {
    const { wide, share, title, source } = this.#options;
    const { keys } = source();
    if (keys.length === 0) return edgeLine(title, columns);
    const list = `${title} ${this.#index() + 1}/${keys.length}`;
    if (columns < wide) return edgeLine(this.isReading ? this.#title : list, columns);
    const left = besideSplit({ columns, rows: 0 }, share).list.columns + 1;
    return [...edgeLine(list, left), say('┬', 'dim'), ...edgeLine(this.#title, columns - left - 1)];
  }

  get #title(): string {
    const { selected } = this;
    return selected === null ? '' : this.#options.source().titleOf(selected);
  }

  /** The list scrolls so that the selected entry is in the middle. */
  #listLines({ columns, rows }: Size) {
    const { keys, headRows, rows: rowsOf } = this.#options.source();
    const isCut = headRows === 0 && keys.length > rows && rows > 1;
    const height = Math.max(1, rows - headRows - (isCut ? 1 : 0));
    const selected = this.#index();
    const from = Math.max(0, Math.min(keys.length - height, selected - Math.floor(height / 2)));
    const visible = { keys: keys.slice(from, from + height), selected: selected - from };
    const { lines, isRunning } = rowsOf(visible, columns);
    const bar = this.isReading ? -1 : headRows + visible.selected;
    const more = isCut ? [moreLine(from, keys.length - from - height)] : [];
    return {
      isRunning,
      lines: [...lines.map((line, at) => (at === bar ? barLine(line, columns) : line)), ...more],
    };
  }

  #detailRows({ details }: Split): readonly string[] {
    const { theme, source } = this.#options;
    if (details.rows === 0) return [];
    const laid = this.#laid();
    const { gone = '' } = source();
    const sheet = laid ? this.#reader.rows(laid) : wrapLines([[say(gone, 'warn')]], details.columns, theme);
    return this.#hasTabs ? [dressLine(this.#tabsLine(details.columns), theme), ...sheet] : sheet;
  }

  /** If not all titles fit, the other tabs are numbers. */
  #tabsLine(columns: number): Line {
    const choices = (isShort: boolean) =>
      this.#options.tabs.map(({ name, title }, index) => {
        const isChosen = name === this.view.tab;
        return { text: isShort && !isChosen ? `${index + 1}` : `${index + 1} ${title}`, isChosen };
      });
    const whole = choicesLine(choices(false));
    return cutLine(widthOf(whole) <= columns ? whole : choicesLine(choices(true)), columns);
  }

  get #hasTabs(): boolean {
    return this.#options.tabs.length > 1;
  }

  /** On a small screen a reader sees no list. */
  #split(): Split {
    const { columns, rows } = this.#size;
    const { keys, headRows } = this.#options.source();
    const { wide, share } = this.#options;
    if (columns >= wide) return besideSplit(this.#size, share);
    if (this.isReading) return { isBeside: false, list: { columns, rows: 0 }, details: { columns, rows } };
    return aboveSplit(
      this.#size,
      keys.length + headRows,
      this.#options.isShort ? this.#detailLength() : rows,
    );
  }

  #detailLength(): number {
    const { sheetOf } = this.#options.source();
    const { selected, view } = this;
    const look = { isSplit: false, isUnfolded: false, showsBytes: false };
    const parts = selected === null ? [] : sheetOf(selected, view.tab, look).parts;
    return parts.reduce((sum, { document }) => sum + 1 + document.length, this.#hasTabs ? 1 : 0);
  }

  #laid(): LaidSheet | null {
    const key = this.selected;
    if (key === null) return null;
    const { name, sheetOf } = this.#options.source();
    const { tab } = this.view;
    const { columns, rows } = this.#split().details;
    const size = { columns, rows: Math.max(0, rows - (this.#hasTabs ? 1 : 0)) };
    return this.#reader.lay(
      JSON.stringify([name, key, tab]),
      look => sheetOf(key, tab, look),
      this.view,
      size,
    );
  }

  #index(): number {
    const { indexOf, preselected, gone } = this.#options.source();
    const { selected } = this.view;
    const index = selected === null ? preselected : indexOf(selected);
    return index < 0 && gone === undefined ? preselected : index;
  }

  #select(index: number): void {
    this.set({ selected: this.#options.source().keys[index] ?? null });
  }

  #say(text: string | null): void {
    if (text !== null) this.#options.say(text);
  }
}

/** The selected entry, highlighted over the whole width. */
function barLine(line: Line, columns: number): Line {
  return fitLine(line, columns).map(({ text }) => say(text, 'selected'));
}

/** `── Calls 3/60 ──────` */
function edgeLine(title: string, columns: number): Line {
  const name = cutLine(quote(title, 'title'), Math.max(0, columns - 8));
  const line = title === '' ? [] : [say('── ', 'dim'), ...name, say(' ', 'dim')];
  return [...line, say('─'.repeat(Math.max(0, columns - widthOf(line))), 'dim')];
}

function moreLine(above: number, below: number): Line {
  const places = [
    ...(above > 0 ? [`${above} more above`] : []),
    ...(below > 0 ? [`${below} more below`] : []),
  ];
  return [say(`… ${places.join(', ')}`, 'dim')];
}

/** A list whatever its tabs. */
export type AnyList = Omit<ListDetail<never>, 'view' | 'set' | 'selected'>;

/** A screen with a list. */
export interface HasList {
  readonly list: AnyList;
  readonly askSearch: () => void;
}

/** A hint for keys that need an entry. */
export const unlessEmpty =
  (...hint: Hint) =>
  ({ list }: HasList) =>
    list.isEmpty ? null : hint;

const ask = ({ askSearch }: HasList) => askSearch();

const read = (command: ReadingCommand) => (screen: HasList) => screen.list.read(command);

/** The keys of every list. */
export const LIST_KEYS: readonly KeyBinding<HasList>[] = [
  bind('list', 'k up', '↑ k', 'the previous entry', ({ list }) => list.move(-1), unlessEmpty('↑↓', 'select')),
  bind('list', 'j down', '↓ j', 'the next entry', ({ list }) => list.move(1)),
  bind('list', 'enter right', '⏎ →', 'read it', ({ list }) => list.moveFocus(1), unlessEmpty('⏎', 'read')),
  bind('list', 'g home', 'Home g', 'the first entry', ({ list }) => list.first()),
  bind('list', 'G end', 'End G', 'the last entry; new calls are followed', ({ list }) => list.last()),
  bind('list', 'tab', 'Tab', 'the next pane', ({ list }) => list.moveFocus(1)),
  bind('list', 'shift+tab', 'Shift-Tab', 'the previous pane', ({ list }) => list.moveFocus(-1)),
  bind('list', 'space pagedown', 'PgDn Space', 'scroll the details down', read('pageDown')),
  bind('list', 'pageup', 'PgUp', 'scroll the details up', read('pageUp')),
  bind('list', '/', '/', 'search the list', ask, unlessEmpty('/', 'search')),
  bind('list', 'n', 'n', 'the next match', ({ list }) => list.nextMatch(1)),
  bind('list', 'N', 'N', 'the previous match', ({ list }) => list.nextMatch(-1)),
];

/** The keys of everything that is read. */
export const READING_KEYS: readonly KeyBinding<HasList>[] = [
  bind('reading', 'k up', '↑ k', 'a line up', read('lineUp'), ['↑↓', 'scroll']),
  bind('reading', 'j down', '↓ j', 'a line down', read('lineDown')),
  bind('reading', 'space pagedown', 'PgDn Space', 'a page down', read('pageDown')),
  bind('reading', 'pageup', 'PgUp', 'a page up', read('pageUp')),
  bind('reading', 'g home', 'Home g', 'the first line', read('top')),
  bind('reading', 'G end', 'End G', 'the last line', read('bottom')),
  bind('reading', 'left h', '← h', 'scroll left (unwrapped lines)', read('left')),
  bind('reading', 'right l', '→ l', 'scroll right', read('right')),
  bind('reading', '/', '/', 'search', ask, ['/', 'search']),
  bind('reading', 'n', 'n', 'the next match', read('nextMatch')),
  bind('reading', 'N', 'N', 'the previous match', read('previousMatch')),
  bind('reading', 'tab', 'Tab', 'the next pane', ({ list }) => list.moveFocus(1), ['Tab', 'pane']),
  bind('reading', 'shift+tab', 'Shift-Tab', 'the previous pane', ({ list }) => list.moveFocus(-1)),
  bind('reading', 'm', 'm', 'this pane only, or all panes', ({ list }) => list.toggle('isZoomed'), [
    'm',
    'zoom',
  ]),
  bind('reading', 'escape', 'Esc', 'back to the list', ({ list }) => list.toList(), ['Esc', 'list']),
  bind('reading', ']', ']', 'the next hunk', read('nextHunk'), ({ list }) =>
    list.isReading && list.hasHunks ? [']', 'next hunk'] : null,
  ),
  bind('reading', '[', '[', 'the previous hunk', read('previousHunk')),
  bind('reading', '}', '}', 'the next file', read('nextFile')),
  bind('reading', '{', '{', 'the previous file', read('previousFile')),
  bind('reading', 'w', 'w', 'wrap or cut long lines', read('wrap')),
  bind('reading', 'v', 'v', 'diff side by side, or unified', read('split')),
  bind('reading', 'z', 'z', 'show or fold unchanged lines', read('fold')),
];

/** The keys of the tabs. */
export function tabKeys(
  place: 'tools' | 'calls',
  tabs: readonly { readonly title: string }[],
): readonly KeyBinding<HasList>[] {
  return tabs.map(({ title }, index) => {
    const key = `${index + 1}`;
    const hint = index === 0 && place === 'calls' ? unlessEmpty(`1-${tabs.length}`, 'tabs') : undefined;
    return bind<HasList>(place, key, key, title, ({ list }) => list.showTab(index), hint);
  });
}

export const BYTES_KEY = bind<HasList>(
  'calls',
  'b',
  'b',
  'show or hide raw bytes in the timeline',
  ({ list }) => list.toggle('showsBytes'),
);
