import type { Key } from 'ink';
import { type Line, type Span, say } from '../render/line.js';
import {
  cutLine,
  divided,
  dressLine,
  fitLine,
  fitRows,
  type Theme,
  widthOf,
} from '../render/terminal/theme.js';
import {
  type ServerPlay,
  type ServerScreen,
  type ServerStage,
  serverScreen,
} from './full-screen/full-screen.js';
import { type Hint, hintsLine, pressesIn } from './keys.js';
import { type Reading, reading, wrapLines } from './layout.js';
import type { Size } from './terminal.js';

export type Command =
  | 'up'
  | 'down'
  | 'first'
  | 'follow'
  | 'details'
  | 'pageUp'
  | 'pageDown'
  | 'help'
  | 'quit';

interface Binding {
  readonly command: Command;
  /** Characters that mean it. */
  readonly characters: string;
  /** Keys that have no character. */
  readonly keys: readonly (keyof Key)[];
  /** As it is shown. */
  readonly label: string;
  readonly does: string;
}

/** Every key of a list. */
export const BINDINGS: readonly Binding[] = [
  { command: 'up', characters: 'k', keys: ['upArrow'], label: '↑ k', does: 'select the call before' },
  { command: 'down', characters: 'j', keys: ['downArrow'], label: '↓ j', does: 'select the call after' },
  { command: 'first', characters: 'g', keys: ['home'], label: 'Home g', does: 'select the oldest call' },
  { command: 'follow', characters: 'G', keys: ['end'], label: 'End G', does: 'follow the newest call' },
  {
    command: 'details',
    characters: '\t',
    keys: ['return', 'tab'],
    label: '⏎ Tab',
    does: 'details of the call, or back to the list',
  },
  { command: 'pageUp', characters: '', keys: ['pageUp'], label: 'PgUp', does: 'scroll the details up' },
  {
    command: 'pageDown',
    characters: ' ',
    keys: ['pageDown'],
    label: 'PgDn Space',
    does: 'scroll the details down',
  },
  { command: 'help', characters: '?', keys: ['escape'], label: '?', does: 'these keys, or back' },
  { command: 'quit', characters: 'q', keys: [], label: 'q Ctrl-C', does: 'end' },
];

/** What a key press asks for; undefined where it means nothing here. */
export function commandOf(input: string, key: Key): Command | undefined {
  if (key.ctrl) return input === 'c' ? 'quit' : undefined;
  const isMeant = ({ characters, keys }: Binding) =>
    keys.some(name => key[name] === true) || (input.length === 1 && characters.includes(input));
  return BINDINGS.find(isMeant)?.command;
}

/** As {@link commandOf}, for several keys that arrive at once. */
export function commandsOf(input: string, key: Key): readonly Command[] {
  return pressesIn({ input, key }).flatMap(each => commandOf(each.input, each.key) ?? []);
}

/** What a person looks at; changed by keys alone. */
export interface View {
  readonly page: 'list' | 'details' | 'help';
  /** The key of the selected call; null follows the newest. */
  readonly selected: string | null;
  /** Rows of the details, or of the help, above the first that is seen. */
  readonly scroll: number;
}

export const FIRST_VIEW: View = { page: 'list', selected: null, scroll: 0 };

/** What a key is pressed upon. */
interface Stage {
  /** Keys of the calls, oldest first. */
  readonly calls: readonly string[];
  /** How many rows of details are seen at a time. */
  readonly height: number;
  /** How far they can be scrolled. */
  readonly most: number;
}

/** The view after a key. Pure; what else a key does is done elsewhere. */
export function stepView(view: View, command: Command, stage: Stage): View {
  switch (command) {
    case 'up':
      return move(view, stage, -1);
    case 'down':
      return move(view, stage, 1);
    case 'first':
      return select(view, stage.calls[0] ?? null);
    case 'follow':
      return select(view, null);
    case 'pageUp':
      return scroll(view, stage, -1);
    case 'pageDown':
      return scroll(view, stage, 1);
    case 'details':
      return { ...view, page: view.page === 'list' ? 'details' : 'list', scroll: 0 };
    case 'help':
      return { ...view, page: view.page === 'list' ? 'help' : 'list', scroll: 0 };
    default:
      return view;
  }
}

/** Where the selected call stands: the newest where it is followed; the oldest where the selected one is forgotten. */
export function selectedIndex({ selected }: View, calls: readonly string[]): number {
  return selected === null ? calls.length - 1 : Math.max(0, calls.indexOf(selected));
}

function move(view: View, { calls }: Stage, by: number): View {
  const index = Math.min(calls.length - 1, Math.max(0, selectedIndex(view, calls) + by));
  return select(view, calls[index] ?? null);
}

function select(view: View, selected: string | null): View {
  return { ...view, selected, scroll: 0 };
}

/** Whoever reads a call does not want to follow the newest any more. */
function scroll(view: View, { calls, height, most }: Stage, by: number): View {
  const to = Math.min(most, view.scroll) + by * Math.max(1, height - 1);
  const selected = view.selected ?? calls.at(-1) ?? null;
  return { ...view, selected, scroll: Math.min(most, Math.max(0, to)) };
}

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

/** The keys that matter now; as many as there is room for, and always how to see the others. */
export function statusLine({ page }: View, width: number): Line {
  const hints: readonly Hint[] = [
    ['↑↓', 'select'],
    ['⏎', page === 'list' ? 'details' : 'list'],
    ['G', 'follow'],
  ];
  return hintsLine(hints, ENDS, width);
}

/** All of them, for the help. */
export function keyLines(): readonly Line[] {
  const width = Math.max(...BINDINGS.map(({ label }) => label.length));
  return [
    [say('KEYS', 'title')],
    ...BINDINGS.map(
      ({ label, does }): Line => [say(label.padEnd(width), 'title'), say('  ', 'gutter'), say(does)],
    ),
  ];
}

/** What a list shows: what stands above it, its items and their details, the keys. */
export interface Listing {
  readonly head: readonly Line[];
  /** Where there is no item yet. */
  readonly empty: readonly Line[];
  readonly help: readonly Line[];
  readonly notices: readonly Line[];
  readonly view: View;
  /** Of the items, oldest first. */
  readonly keys: readonly string[];
  /** The keys that matter now. @param columns that it may have */
  readonly foot: (columns: number) => Line;
  /** The items from one index up to another as a table with its head. Only those are looked at: there may be thousands. */
  readonly table: (
    seen: Seen,
    columns: number,
  ) => { readonly lines: readonly Line[]; readonly isRunning: boolean };
  /** Of the item at this index, dressed. */
  readonly details: (index: number, columns: number) => readonly string[];
}

interface Seen {
  readonly from: number;
  readonly to: number;
  readonly selected: number;
}

/** What is drawn: dressed rows, cut to the terminal, and one row below its height: what scrolls cannot be wiped any more. */
export interface Frame {
  readonly rows: readonly string[];
  /** It changes as time goes on. */
  readonly isRunning: boolean;
  /** How many rows of details are seen, and how far they can be scrolled. */
  readonly height: number;
  readonly most: number;
}

/** From here on the details stand beside the list. */
const WIDE = 120;
const DIVIDER = ' │ ';
/** Of the width, where both stand side by side. */
const LIST_SHARE = 0.58;
/** Rows below which blank rows are a waste, and a list and details together too. */
const ROOMY = 16;
const MAX_NOTICES = 4;

/** Lays a list out. */
export function listFrame(listing: Listing, { columns, rows }: Size, theme: Theme): Frame {
  const { notices } = listing;
  const height = Math.max(1, rows - 1);
  const draw = (line: Line) => dressLine(cutLine(line, columns), theme);
  const blank = height >= ROOMY ? [''] : [];
  const head = [...listing.head.map(draw), ...blank];
  const said = height < ROOMY ? notices.slice(-1).map(draw) : noticeRows(notices, columns, theme);
  const foot = [...blank, ...said, draw(listing.foot(columns))];
  const left = Math.max(0, height - head.length - foot.length);
  const body = bodyOf(listing, { columns, rows: left }, theme);
  const filled = [...body.rows, ...Array.from({ length: Math.max(0, left - body.rows.length) }, () => '')];
  return { ...body, rows: [...head, ...filled.slice(0, left), ...foot].slice(0, height) };
}

function noticeRows(notices: readonly Line[], columns: number, theme: Theme): readonly string[] {
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  return fitRows(wrapLines(notices, columns, theme), MAX_NOTICES, more);
}

function bodyOf(listing: Listing, size: Size, theme: Theme): Frame {
  const { view, keys, help, empty } = listing;
  const { columns, rows } = size;
  if (view.page === 'help')
    return page(reading(wrapLines(help, columns, theme), view.scroll, rows, theme), rows);
  if (keys.length === 0) return still(wrapLines(empty, columns, theme).slice(0, rows));
  if (view.page === 'details') return page(detailsOf(listing, size, theme), rows);
  if (columns >= WIDE) return beside(listing, size, theme);
  return rows < ROOMY - 6
    ? { ...listOf(listing, size, theme), height: 0, most: 0 }
    : below(listing, size, theme);
}

function beside(listing: Listing, { columns, rows }: Size, theme: Theme): Frame {
  const width = Math.floor(columns * LIST_SHARE);
  const right = columns - width - DIVIDER.length;
  const list = listOf(listing, { columns: width, rows }, theme);
  const details = detailsOf(listing, { columns: right, rows }, theme);
  const divider = theme.dim(DIVIDER);
  const whole = divided(list.rows, details.rows, { left: width, divider, height: rows });
  return { rows: whole, isRunning: list.isRunning, height: rows, most: details.most };
}

/** The list takes what it needs, up to two fifths. */
function below(listing: Listing, { columns, rows }: Size, theme: Theme): Frame {
  const forList = Math.min(listing.keys.length + 1, Math.max(4, Math.floor(rows * 0.4)));
  const height = rows - forList - 1;
  const list = listOf(listing, { columns, rows: forList }, theme);
  const details = detailsOf(listing, { columns, rows: height }, theme);
  const rule = theme.dim('─'.repeat(columns));
  return {
    rows: [...list.rows, rule, ...details.rows],
    isRunning: list.isRunning,
    height,
    most: details.most,
  };
}

function listOf({ view, keys, table }: Listing, { columns, rows }: Size, theme: Theme) {
  const selected = selectedIndex(view, keys);
  const height = Math.max(1, rows - 1);
  const from = Math.max(0, Math.min(keys.length - height, selected - Math.floor(height / 2)));
  const { lines, isRunning } = table({ from, to: from + height, selected }, columns);
  return { rows: lines.slice(0, rows).map(line => dressLine(line, theme)), isRunning };
}

function detailsOf({ view, keys, details }: Listing, { columns, rows }: Size, theme: Theme): Reading {
  return reading(details(selectedIndex(view, keys), columns), view.scroll, rows, theme);
}

function page({ rows, most }: Reading, height: number): Frame {
  return { rows, most, height, isRunning: false };
}

function still(rows: readonly string[]): Frame {
  return { rows, most: 0, height: 0, isRunning: false };
}

/** What a list knows, and what keys do to it. */
export interface Listed extends Omit<ServerPlay, 'press'> {
  command(command: Command): void;
}

/** The live list of what a server does, on a screen of its own. Needs a terminal on both ends. */
export function listScreen(listed: Listed, stage: ServerStage): ServerScreen {
  return serverScreen(() => playOf(listed), stage);
}

function playOf(listed: Listed): ServerPlay {
  return {
    press(input, key) {
      for (const command of commandsOf(input, key)) listed.command(command);
    },
    frame: size => listed.frame(size),
    event: event => listed.event(event),
    notice: (text, isBad) => listed.notice(text, isBad),
    get summary() {
      return listed.summary;
    },
  };
}

/** One row, cell by cell; its state stands last, and has the rest of the width. */
interface Row<Name extends string> {
  readonly mark: Span;
  readonly cells: Readonly<Record<Name | 'state', Line>>;
}

export interface Column<Name extends string> {
  readonly name: Name;
  readonly title: string;
  /** Cells at most. */
  readonly most: number;
}

export interface Table<Name extends string> {
  readonly columns: readonly Column<Name>[];
  /** What a narrow table does without, first things first. */
  readonly dispensable: readonly Name[];
}

/** Cells that a state has at least, and for which others make room. */
const STATE = { title: 'STATE', least: 18, most: 40 };
/** Cells below which a column says nothing. */
const LEAST = 16;
const GAP = 2;
const CURSOR = '❯ ';

/** Rows as a table of `width` cells; its first line is the head. */
export function layTable<Name extends string>(
  table: Table<Name>,
  rows: readonly Row<Name>[],
  selected: Row<Name> | undefined,
  width: number,
): readonly Line[] {
  const columns = fitting(table, rows, width - CURSOR.length);
  const head = columns.map(({ title, width }) => say(title.padEnd(width + GAP).slice(0, width + GAP), 'dim'));
  return [
    cutLine([say(' '.repeat(CURSOR.length)), ...head, say(`  ${STATE.title}`, 'dim')], width),
    ...rows.map(row => cutLine(rowLine(row, columns, row === selected), width)),
  ];
}

interface Fitting<Name extends string> extends Column<Name> {
  readonly width: number;
}

function fitting<Name extends string>(
  { columns, dispensable }: Table<Name>,
  rows: readonly Row<Name>[],
  width: number,
): readonly Fitting<Name>[] {
  const all = columns.map(column => ({ ...column, width: widthFor(column, rows) }));
  const states = rows.map(({ cells }) => widthOf(cells.state) + 2);
  const state = Math.min(STATE.most, Math.max(STATE.least, ...states));
  const gone = new Set<Name>();
  for (const name of dispensable) {
    const left = all.filter(column => !gone.has(column.name));
    if (left.reduce((sum, column) => sum + column.width + GAP, 0) + state <= width) break;
    gone.add(name);
  }
  return narrowed(
    all.filter(({ name }) => !gone.has(name)),
    width - state,
  );
}

/** What is too much for this room is taken from the widest. */
function narrowed<Name extends string>(
  columns: readonly Fitting<Name>[],
  room: number,
): readonly Fitting<Name>[] {
  const surplus = columns.reduce((sum, { width }) => sum + width + GAP, 0) - room;
  const [widest] = columns.toSorted((one, other) => other.width - one.width);
  if (!widest || surplus <= 0) return columns;
  const width = Math.max(Math.min(LEAST, widest.width), widest.width - surplus);
  return columns.map(column => (column === widest ? { ...column, width } : column));
}

function widthFor<Name extends string>(
  { name, title, most }: Column<Name>,
  rows: readonly Row<Name>[],
): number {
  return Math.min(most, Math.max(title.length, ...rows.map(({ cells }) => widthOf(cells[name]))));
}

function rowLine<Name extends string>(
  { mark, cells }: Row<Name>,
  columns: readonly Fitting<Name>[],
  isSelected: boolean,
): Line {
  return [
    say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
    ...columns.flatMap(({ name, width }) => [...fitLine(cells[name], width), say(' '.repeat(GAP))]),
    mark,
    say(' '),
    ...cells.state,
  ];
}
