import type { CallView } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import { cutLine, fitLine, widthOf } from '../../render/terminal/fit.js';
import { styleLine, type Theme } from '../../render/terminal/theme.js';
import { excerpt } from '../../util/text.js';
import type { Sheet } from '../document/documents.js';
import { SheetReader } from '../document/reader.js';
import type { DrawnSheet, Panes } from '../ink.js';
import { choicesLine, DIVIDER, type Table, tableLines, wrapLines } from '../layout.js';
import type { Size } from '../terminal.js';

interface Entries<Entry> {
  /** Identifies the source; reading positions are remembered for each entry of each source. */
  readonly name?: string;
  readonly keys: readonly string[];
  /** The entries that the title counts; all by default. */
  readonly counted?: readonly string[];
  readonly get: (key: string) => Entry | undefined;
  /** The entry shown until the user selects one; the last one by default. */
  readonly preselected?: number;
}

interface Rows {
  readonly lines: readonly Line[];
  readonly isRunning: boolean;
}

interface ListDescription<Entry, Tab extends string> {
  readonly title: string;
  readonly tabs: readonly { readonly name: Tab; readonly title: string }[];
  /** Minimum width, in columns, for the list and the details side by side. */
  readonly wide: number;
  readonly share: number;
  readonly entries: () => Entries<Entry>;
  /** Shown if the selected entry no longer exists; without it, the preselected entry is shown. */
  readonly missing?: string;
  readonly titleOf: (entry: Entry) => string;
  readonly textOf: (entry: Entry) => readonly unknown[];
  /** Marks the title of a tab that the user should look at. */
  readonly isMarked?: (entry: Entry, tab: Tab) => boolean;
  readonly headRows: number;
  /** The head and the visible entries: a list may have thousands. */
  readonly rows: (entries: readonly Entry[], selected: number, columns: number) => Rows;
  readonly sheetOf: (entry: Entry, tab: Tab) => Sheet;
  readonly empty: (columns: number) => readonly Line[];
}

export function tableOf<Entry, Name extends string>(
  table: () => Table<Name>,
  rowOf: (entry: Entry, isSelected: boolean) => CallView<Name>,
) {
  return {
    headRows: 1,
    rows(entries: readonly Entry[], selected: number, columns: number): Rows {
      const rows = entries.map((entry, index) => rowOf(entry, index === selected));
      const lines = tableLines(table(), rows, rows[selected], columns);
      return { lines, isRunning: rows.some(({ isRunning }) => isRunning) };
    },
  };
}

const MAX_SEARCHED = 100_000;

/** Leaves enough width beside the list for the panes of human and LLM side by side. */
export const WITH_PANES = { wide: 165, share: 0.38 };

/** Minimum height for both list and details; with fewer rows only one of them is shown. */
const MIN_ROWS_FOR_BOTH = 9;

const ABOVE = 0.45;

type LaidSheet = ReturnType<SheetReader['lay']>;

type SheetView = Parameters<SheetReader['lay']>[2];

interface ListView<Tab extends string> extends SheetView {
  /** Null means the preselected entry. */
  readonly selected: string | null;
  readonly wanted: string | null;
  readonly tab: Tab;
}

export class ListDetail<Entry, Tab extends string> {
  view: ListView<Tab>;
  readonly #reader: SheetReader;
  /** The size of the last frame: keys apply to what was visible. */
  #size: Size = { columns: 80, rows: 20 };

  constructor(
    private readonly list: ListDescription<Entry, Tab>,
    private readonly theme: Theme,
    highlighter: ConstructorParameters<typeof SheetReader>[1],
    private readonly say: (text: string) => void,
  ) {
    this.#reader = new SheetReader(theme, highlighter);
    const [first] = list.tabs;
    if (!first) throw new Error('a sheet has at least one tab');
    const sheet = { focus: 'list', isZoomed: false, showsBytes: false } as const;
    this.view = { selected: null, wanted: null, tab: first.name, ...sheet };
  }

  get isReading(): boolean {
    return this.view.focus !== 'list';
  }

  get isEmpty(): boolean {
    return this.#keys.length === 0;
  }

  get hasHunks(): boolean {
    return this.#laid()?.hasHunks() ?? false;
  }

  /** Null if nothing is selected, or the selected entry no longer exists. */
  get selected(): string | null {
    return this.#keys[this.#index] ?? null;
  }

  get entry(): Entry | undefined {
    return this.list.entries().get(this.selected ?? '');
  }

  set(change: Partial<ListView<Tab>>): void {
    this.view = { ...this.view, ...change };
  }

  move(by: number): void {
    this.#select(Math.max(0, Math.min(this.#keys.length - 1, Math.max(0, this.#index) + by)));
  }

  /** Follows new entries if the last entry is preselected. */
  last(): void {
    const end = this.#keys.length - 1;
    this.set({ selected: this.#preselected === end ? null : (this.#keys[end] ?? null) });
  }

  showTab(index: number): void {
    const tab = this.list.tabs[index];
    if (tab) this.set({ tab: tab.name, focus: this.isReading ? 0 : 'list' });
  }

  moveFocus(by: 1 | -1): void {
    const { focus } = this.view;
    const count = this.#laid()?.count ?? 0;
    const to = (focus === 'list' ? (by > 0 ? -1 : count) : focus) + by;
    if (to < 0 || to >= count) this.toList();
    else this.set({ focus: to, selected: this.selected });
  }

  toList(): void {
    this.set({ focus: 'list', isZoomed: false });
  }

  toggle(what: 'isZoomed' | 'showsBytes'): void {
    this.set({ [what]: !this.view[what] });
  }

  read(command: Parameters<LaidSheet['read']>[0]): void {
    const laid = this.#laid();
    if (!laid) return;
    this.#sayIf(laid.read(command));
    this.set({ selected: this.selected }); // stop following the newest entry while reading
  }

  search(wanted: string): void {
    const laid = this.#laid();
    if (this.isReading && laid) return void this.#sayIf(laid.search(wanted));
    this.set({ wanted });
    this.nextMatch(1);
  }

  nextMatch(step: 1 | -1): void {
    const { wanted } = this.view;
    if (wanted === null || wanted === '') return void this.say('no search text');
    const { keys, get } = this.list.entries();
    const needle = wanted.toLowerCase();
    const hasMatch = (key: string | undefined) => {
      const entry = get(key ?? '');
      const texts = entry === undefined ? [] : this.list.textOf(entry);
      return texts.map(wordsOf).join(' ').toLowerCase().includes(needle);
    };
    const from = Math.max(0, this.#index);
    for (let away = 1; away <= keys.length; away++) {
      const index = (from + step * away + keys.length * 2) % keys.length;
      if (hasMatch(keys[index])) return void this.#select(index);
    }
    this.say(`not found: ${excerpt(wanted)}`);
  }

  /** @param hasEdge the titles are in an upper edge */
  frame({ columns, rows }: Size, hasEdge: boolean): Panes & { readonly isRunning: boolean } {
    this.#size = { columns, rows: hasEdge ? rows - 1 : rows };
    const { isBeside, list, details } = this.#split();
    const isBelow = !isBeside && list.rows > 0;
    const titled = (title: string, width: number) =>
      styleLine(cutLine(quote(title, 'title'), Math.max(0, width - 8)), this.theme);
    const { lines, isRunning } = this.#listRows(list);
    return {
      isBeside,
      list: {
        title: hasEdge ? titled(`${this.list.title}${this.#position}`, list.columns) : null,
        size: list,
        rows: lines,
      },
      details: {
        title: hasEdge || isBelow ? titled(this.#title, details.columns) : null,
        size: details,
        tabs: this.#tabRows > 0 ? [styleLine(this.#tabsLine(details.columns), this.theme)] : [],
        ...this.#sheets(details),
      },
      isRunning,
    };
  }

  get #keys(): readonly string[] {
    return this.list.entries().keys;
  }

  /** ` 2/9`; ` 9` if the selected entry does not count. */
  get #position(): string {
    const { keys, counted = keys } = this.list.entries();
    const nth = counted.indexOf(this.selected ?? '') + 1;
    if (this.isEmpty) return '';
    return nth === 0 ? ` ${counted.length}` : ` ${nth}/${counted.length}`;
  }

  get #title(): string {
    return this.entry === undefined ? '' : this.list.titleOf(this.entry);
  }

  /** Scrolls the list so that the selected entry is in the middle. */
  #listRows({ columns, rows }: Size): { readonly lines: readonly string[]; readonly isRunning: boolean } {
    const { theme } = this;
    if (this.isEmpty || rows === 0)
      return {
        lines: this.isEmpty ? wrapLines(this.list.empty(columns), columns, theme) : [],
        isRunning: false,
      };
    const { keys, get } = this.list.entries();
    const { headRows } = this.list;
    const height = Math.max(1, rows - headRows);
    const from = Math.max(0, Math.min(keys.length - height, this.#index - Math.floor(height / 2)));
    const entries = keys.slice(from, from + height).map(key => get(key) as Entry);
    const selected = this.#index - from;
    const { lines, isRunning } = this.list.rows(entries, selected, columns);
    const bar = this.isReading ? -1 : headRows + selected;
    const selectedLine = (line: Line) => fitLine(line, columns).map(({ text }) => say(text, 'selected'));
    const draw = (line: Line, at: number) => (at === bar ? selectedLine(line) : cutLine(line, columns));
    return { lines: lines.map((line, at) => styleLine(draw(line, at), theme)), isRunning };
  }

  #sheets(size: Size): DrawnSheet {
    const laid = size.rows > 0 ? this.#laid() : null;
    if (laid) return laid.draw();
    const rows = wrapLines([[say(this.list.missing ?? '', 'warn')]], size.columns, this.theme);
    return { isBeside: false, parts: [{ heading: '', status: '', size, rows }] };
  }

  /** If the titles do not fit, the other tabs are numbers. */
  #tabsLine(columns: number): Line {
    const choices = (isShort: boolean) =>
      this.list.tabs.map(({ name, title }, index) => {
        const isChosen = name === this.view.tab;
        const mark = this.entry !== undefined && this.list.isMarked?.(this.entry, name) ? ' !' : '';
        return { text: `${index + 1}${isShort && !isChosen ? '' : ` ${title}`}${mark}`, isChosen };
      });
    const whole = choicesLine(choices(false));
    return cutLine(widthOf(whole) <= columns ? whole : choicesLine(choices(true)), columns);
  }

  get #tabRows(): number {
    return this.list.tabs.length > 1 ? 1 : 0;
  }

  /** The list and its details, side by side or stacked. On a small screen, the list is hidden while the details have the focus. */
  #split(): { readonly isBeside: boolean; readonly list: Size; readonly details: Size } {
    const { columns, rows } = this.#size;
    const { wide, share, headRows } = this.list;
    if (this.isEmpty) return { isBeside: false, list: this.#size, details: { columns, rows: 0 } };
    if (columns >= wide) {
      const left = Math.floor(columns * share);
      const right = columns - left - DIVIDER.length;
      return { isBeside: true, list: { columns: left, rows }, details: { columns: right, rows } };
    }
    const maxRows = Math.max(4, Math.floor(rows * ABOVE));
    const wanted = rows < MIN_ROWS_FOR_BOTH ? rows : Math.min(this.#keys.length + headRows, maxRows);
    const above = this.isReading ? 0 : wanted;
    const left = this.isReading ? rows : Math.max(0, rows - above - 1);
    return { isBeside: false, list: { columns, rows: above }, details: { columns, rows: left } };
  }

  #laid(): LaidSheet | null {
    const { entry, selected, view } = this;
    if (entry === undefined) return null;
    const { tab } = view;
    const { columns, rows } = this.#split().details;
    const size = { columns, rows: Math.max(0, rows - this.#tabRows) };
    const name = JSON.stringify([this.list.entries().name, selected, tab]);
    return this.#reader.lay(name, this.list.sheetOf(entry, tab), view, size);
  }

  get #preselected(): number {
    const { keys, preselected = keys.length - 1 } = this.list.entries();
    return preselected;
  }

  get #index(): number {
    const { selected } = this.view;
    const index = selected === null ? this.#preselected : this.#keys.indexOf(selected);
    return index < 0 && this.list.missing === undefined ? this.#preselected : index;
  }

  #select(index: number): void {
    this.set({ selected: this.#keys[index] ?? null });
  }

  #sayIf(text: string | null): void {
    if (text !== null) this.say(text);
  }
}

function wordsOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MAX_SEARCHED);
}

export type AnyList = Omit<ListDetail<never, never>, 'view' | 'set' | 'selected' | 'entry'>;
