import { excerpt } from '../../util/excerpt.js';
import type { ReadingCommand } from '../document/view.js';
import { type Binding, bind } from '../keys.js';

/** A list that one goes through. */
export interface Listed {
  readonly ids: readonly string[];
  readonly selected: number;
  /** What search looks at. */
  readonly textOf: (index: number) => string;
}

/** The index one further; it stays at either end. */
export function moved({ ids, selected }: Listed, by: number): number {
  return Math.max(0, Math.min(ids.length - 1, selected + by));
}

/** The next entry with this in its text, round and round; null where there is none. */
export function found({ ids, selected, textOf }: Listed, wanted: string | null, step: 1 | -1): number | null {
  if (wanted === null || wanted === '') return null;
  const needle = wanted.toLowerCase();
  for (let away = 1; away <= ids.length; away++) {
    const index = cycled(selected, step * away, ids.length);
    if (textOf(index).toLowerCase().includes(needle)) return index;
  }
  return null;
}

/** What is to be said of a search that comes to no entry; null where it comes to one. */
export function missing(listed: Listed, wanted: string | null): string | null {
  if (wanted === null || wanted === '') return 'nothing is searched for';
  return found(listed, wanted, 1) === null ? `not found: ${excerpt(wanted)}` : null;
}

export function cycled(index: number, by: number, length: number): number {
  return length === 0 ? 0 : (((index + by) % length) + length) % length;
}

/** How a person looks at calls: at which one, and at what of it. Changed by keys alone. */
export interface Browsing<Tab extends string = string> {
  /** The key of a call; null follows the newest. */
  readonly selected: string | null;
  /** What is searched for in the list. */
  readonly wanted: string | null;
  readonly tab: Tab;
  /** The list, or a part of the sheet by its index. */
  readonly focus: 'list' | number;
  readonly isZoomed: boolean;
  readonly showsBytes: boolean;
}

/** What keys are pressed upon. */
interface Browsed<Tab extends string> {
  /** What search looks at, call by call, and their keys. */
  readonly calls: Listed;
  /** How many parts the sheet of the selected call has. */
  readonly parts: number;
  readonly tabs: readonly Tab[];
}

/** At the newest call, with nothing read yet. */
export function firstBrowsing<Tab extends string>(tab: Tab): Browsing<Tab> {
  return { selected: null, wanted: null, tab, focus: 'list', isZoomed: false, showsBytes: false };
}

/** How they are looked at after a command; the same where it is none of theirs. Pure. */
export function browse<Tab extends string, Here extends Browsing<Tab>>(
  here: Here,
  command: string,
  browsed: Browsed<Tab>,
): Here {
  const { focus, showsBytes } = here;
  if (command === 'bytes') return { ...here, showsBytes: !showsBytes };
  const tab = browsed.tabs[TAB_OF[command] ?? -1];
  if (tab !== undefined) return { ...here, tab, focus: focus === 'list' ? 'list' : 0 };
  return focus === 'list' ? browseList(here, command, browsed) : browseSheet(here, focus, command, browsed);
}

const TAB_OF: Readonly<Record<string, number>> = { tab1: 0, tab2: 1, tab3: 2, tab4: 3, tab5: 4, tab6: 5 };

function browseList<Tab extends string, Here extends Browsing<Tab>>(
  here: Here,
  command: string,
  { calls, parts }: Browsed<Tab>,
): Here {
  const select = (index: number | null) =>
    index === null ? here : { ...here, selected: calls.ids[index] ?? null };
  const read = (part: number) => (parts > 0 ? { ...pinned(here, calls), focus: part } : here);
  switch (command) {
    case 'up':
      return select(moved(calls, -1));
    case 'down':
      return select(moved(calls, 1));
    case 'first':
      return select(0);
    case 'last':
      return { ...here, selected: null };
    case 'nextMatch':
      return select(found(calls, here.wanted, 1));
    case 'previousMatch':
      return select(found(calls, here.wanted, -1));
    case 'enter':
    case 'focusNext':
      return read(0);
    case 'focusPrevious':
      return read(parts - 1);
    default:
      return here;
  }
}

function browseSheet<Tab extends string, Here extends Browsing<Tab>>(
  here: Here,
  part: number,
  command: string,
  { parts }: Browsed<Tab>,
): Here {
  switch (command) {
    case 'back':
      return atList(here);
    case 'focusNext':
      return part + 1 < parts ? { ...here, focus: part + 1 } : atList(here);
    case 'focusPrevious':
      return part > 0 ? { ...here, focus: part - 1 } : atList(here);
    case 'zoom':
      return { ...here, isZoomed: !here.isZoomed };
    default:
      return here;
  }
}

/** The list is seen beside everything: nothing is alone then. */
export function atList<Here extends Browsing>(here: Here): Here {
  return { ...here, focus: 'list', isZoomed: false };
}

/** Whoever reads a call does not want to follow the newest any more. */
export function pinned<Here extends Browsing>(here: Here, { ids, selected }: Listed): Here {
  return { ...here, selected: here.selected ?? ids[selected] ?? null };
}

const READING: ReadonlySet<string> = new Set<ReadingCommand>([
  'lineUp',
  'lineDown',
  'pageUp',
  'pageDown',
  'left',
  'right',
  'top',
  'bottom',
  'nextHunk',
  'previousHunk',
  'nextFile',
  'previousFile',
  'wrap',
  'split',
  'fold',
  'nextMatch',
  'previousMatch',
]);

/**
 * Whether a command is about what is read. A list with the focus has its own way with `n`; pages of the sheet beside it are turned
 * all the same.
 */
export function isReading(command: string, focus: 'list' | number): command is ReadingCommand {
  if (focus === 'list') return command === 'pageDown' || command === 'pageUp';
  return READING.has(command);
}

type TabCommand = `tab${(typeof NUMBERS)[number]}`;

/** What moves the eye over calls, and from the list to a sheet and back. */
export type BrowsingCommand =
  | TabCommand
  | 'back'
  | 'focusNext'
  | 'focusPrevious'
  | 'up'
  | 'down'
  | 'first'
  | 'last'
  | 'enter'
  | 'nextMatch'
  | 'previousMatch'
  | 'zoom'
  | 'bytes';

type CallsBinding = Binding<'calls', BrowsingCommand | ReadingCommand | 'search'>;
type ReadingBinding = Binding<'reading', ReadingCommand | 'search' | 'zoom'>;

/** The keys of every list of calls. */
export const LIST_BINDINGS: readonly CallsBinding[] = [
  bind('calls', 'up', 'k up', '↑ k', 'the previous call'),
  bind('calls', 'down', 'j down', '↓ j', 'the next call'),
  bind('calls', 'first', 'g home', 'Home g', 'the oldest call'),
  bind('calls', 'last', 'G end', 'End G', 'follow the newest call'),
  bind('calls', 'enter', 'enter right', '⏎ →', 'open it'),
  bind('calls', 'pageDown', 'space pagedown', 'PgDn Space', 'scroll the details down'),
  bind('calls', 'pageUp', 'pageup', 'PgUp', 'scroll the details up'),
  bind('calls', 'search', '/', '/', 'search for a call: operation, id or thread'),
  bind('calls', 'nextMatch', 'n', 'n', 'the next match'),
  bind('calls', 'previousMatch', 'N', 'N', 'the previous match'),
];

/** The keys of whatever is read. */
export const READING_BINDINGS: readonly ReadingBinding[] = [
  bind('reading', 'lineUp', 'k up', '↑ k', 'a line up'),
  bind('reading', 'lineDown', 'j down', '↓ j', 'a line down'),
  bind('reading', 'pageDown', 'space pagedown', 'PgDn Space', 'a page down'),
  bind('reading', 'pageUp', 'pageup', 'PgUp', 'a page up'),
  bind('reading', 'top', 'g home', 'Home g', 'the first line'),
  bind('reading', 'bottom', 'G end', 'End G', 'the last line'),
  bind('reading', 'left', 'left h', '← h', 'scroll left (unwrapped lines)'),
  bind('reading', 'right', 'right l', '→ l', 'scroll right'),
  bind('reading', 'search', '/', '/', 'search'),
  bind('reading', 'nextMatch', 'n', 'n', 'the next match'),
  bind('reading', 'previousMatch', 'N', 'N', 'the previous match'),
  bind('reading', 'nextHunk', ']', ']', 'the next hunk'),
  bind('reading', 'previousHunk', '[', '[', 'the previous hunk'),
  bind('reading', 'nextFile', '}', '}', 'the next file'),
  bind('reading', 'previousFile', '{', '{', 'the previous file'),
  bind('reading', 'wrap', 'w', 'w', 'wrap or cut long lines'),
  bind('reading', 'split', 'v', 'v', 'diff side by side, or unified'),
  bind('reading', 'fold', 'z', 'z', 'show or fold unchanged lines'),
  bind('reading', 'zoom', 'm', 'm', 'this pane only, or all panes'),
];

const NUMBERS = ['1', '2', '3', '4', '5', '6'] as const;

/** The keys of the tabs, and of what is told in them. @param titles of the tabs, as they stand above the sheet */
export function tabBindings(titles: readonly string[]): readonly CallsBinding[] {
  const tabs = NUMBERS.flatMap((number, index) => {
    const title = titles[index];
    return title === undefined ? [] : [bind('calls', `tab${number}` as const, number, number, title)];
  });
  return [...tabs, bind('calls', 'bytes', 'b', 'b', 'raw bytes in the timeline, or none')];
}
