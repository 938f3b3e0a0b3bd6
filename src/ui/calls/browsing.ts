import { found, type Listed, moved } from './lists.js';

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
export interface Browsed<Tab extends string> {
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
