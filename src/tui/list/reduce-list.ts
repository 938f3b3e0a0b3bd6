import { excerpt } from '../../util/text.js';
import type { ReadingCommand } from '../reading/commands.js';
import {
  layOutSheet,
  type Read,
  readSheet,
  type SheetPlace,
  searchSheet,
  sheetSeen,
} from '../reading/sheet.js';
import type { Size } from '../tty.js';
import { isReading, type Listed, type ListState, selectedIndex, selectedKey, selectedSheet } from './list.js';

export type ListAction =
  | { readonly type: 'move'; readonly by: number }
  /** Follows new entries if the last entry is preselected. */
  | { readonly type: 'last' }
  | { readonly type: 'showTab'; readonly index: number }
  | { readonly type: 'moveFocus'; readonly by: 1 | -1 }
  | { readonly type: 'toList' }
  | { readonly type: 'toggle'; readonly what: 'isZoomed' | 'showsBytes' }
  | { readonly type: 'read'; readonly command: ReadingCommand }
  /** In the text with the focus, or in the entries of the list. */
  | { readonly type: 'search'; readonly words: string }
  | { readonly type: 'nextMatch'; readonly step: 1 | -1 };

/** What a screen with a list dispatches about it. */
export type ListUpdate =
  | {
      readonly type: 'list';
      readonly action: ListAction;
      /** The room of the list and its details, as it was last visible. */
      readonly room: Size;
      /** The time when a message about the action ends. */
      readonly until: number;
    }
  /** A growing text was drawn at its end. */
  | { readonly type: 'seen'; readonly place: SheetPlace };

/** The state after an action, and a message for the user, if there is one. */
export interface ListChange<Tab extends string> {
  readonly state: ListState<Tab>;
  readonly said: string | null;
}

const MAX_SEARCHED = 100_000;

/** @param size of list and details together, as they were last visible */
export function reduceList<Entry, Tab extends string>(
  listed: Listed<Entry, Tab>,
  action: ListAction,
  size: Size,
): ListChange<Tab> {
  const { state } = listed;
  switch (action.type) {
    case 'move':
      return silently(listed, { selected: keyBeside(listed, action.by) });
    case 'last':
      return silently(listed, { selected: lastKey(listed) });
    case 'showTab':
      return showTab(listed, action.index);
    case 'moveFocus':
      return moveFocus(listed, action.by, size);
    case 'toList':
      return silently(listed, TO_LIST);
    case 'toggle':
      return silently(listed, { [action.what]: !state[action.what] });
    case 'read': {
      const place = selectedSheet(listed, size);
      return place ? read(listed, readSheet(state.reading, place, action.command)) : silently(listed, {});
    }
    case 'search': {
      const place = isReading(state) ? selectedSheet(listed, size) : null;
      if (place) return read(listed, searchSheet(state.reading, place, action.words));
      return nextMatch({ ...listed, state: { ...state, wanted: action.words } }, 1);
    }
    case 'nextMatch':
      return nextMatch(listed, action.step);
  }
}

function silently<Entry, Tab extends string>(
  { state }: Listed<Entry, Tab>,
  change: Partial<ListState<Tab>>,
): ListChange<Tab> {
  return { state: { ...state, ...change }, said: null };
}

function keyBeside<Entry, Tab extends string>(listed: Listed<Entry, Tab>, by: number): string | null {
  const { keys } = listed.list.entries();
  const to = Math.max(0, selectedIndex(listed)) + by;
  return keys[Math.max(0, Math.min(keys.length - 1, to))] ?? null;
}

/** Null, which follows new entries, if the last entry is preselected. */
function lastKey<Entry, Tab extends string>({ list }: Listed<Entry, Tab>): string | null {
  const { keys, preselected = keys.length - 1 } = list.entries();
  return preselected === keys.length - 1 ? null : (keys.at(-1) ?? null);
}

function showTab<Entry, Tab extends string>(listed: Listed<Entry, Tab>, index: number): ListChange<Tab> {
  const tab = listed.list.tabs[index];
  return silently(listed, tab ? { tab: tab.name, focus: isReading(listed.state) ? 0 : 'list' } : {});
}

/** The focus goes around: from the list, if it is shown, through the parts of the sheet, and back. */
function moveFocus<Entry, Tab extends string>(
  listed: Listed<Entry, Tab>,
  by: 1 | -1,
  size: Size,
): ListChange<Tab> {
  const count = selectedSheet(listed, size)?.sheet.length ?? 0;
  const { focus } = listed.state;
  const first = by > 0 ? 0 : count - 1;
  const to = focus === 'list' ? first : focus + by;
  if (to < 0 || to >= count) return silently(listed, listed.list.isSingle ? { focus: first } : TO_LIST);
  return silently(listed, { focus: to, selected: selectedKey(listed) });
}

const TO_LIST = { focus: 'list', isZoomed: false } as const;

/** A user who reads an entry stops following the newest one. */
function read<Entry, Tab extends string>(
  listed: Listed<Entry, Tab>,
  { state: reading, said }: Read,
): ListChange<Tab> {
  return { state: { ...listed.state, reading, selected: selectedKey(listed) }, said };
}

function nextMatch<Entry, Tab extends string>(listed: Listed<Entry, Tab>, step: 1 | -1): ListChange<Tab> {
  const { list, state } = listed;
  const { wanted } = state;
  if (wanted === null || wanted === '') return { state, said: 'no search text' };
  const { keys, get } = list.entries();
  const needle = wanted.toLowerCase();
  const hasMatch = (key: string | undefined) => {
    const entry = get(key ?? '');
    const texts = entry === undefined ? [] : list.textOf(entry);
    return texts.map(wordsOf).join(' ').toLowerCase().includes(needle);
  };
  const from = Math.max(0, selectedIndex(listed));
  for (let away = 1; away <= keys.length; away++) {
    const key = keys[(from + step * away + keys.length * 2) % keys.length];
    if (key !== undefined && hasMatch(key)) return { state: { ...state, selected: key }, said: null };
  }
  return { state, said: `not found: ${excerpt(wanted)}` };
}

function wordsOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MAX_SEARCHED);
}

/** Whether the selected sheet shows a diff with hunks. */
export function showsHunks<Entry, Tab extends string>(listed: Listed<Entry, Tab>, size: Size): boolean {
  const place = selectedSheet(listed, size);
  return place !== null && layOutSheet(listed.state.reading, place).hasHunks;
}

/** A reader at the end of a growing text stays at its end. */
export function listSeen<Tab extends string>(state: ListState<Tab>, place: SheetPlace): ListState<Tab> {
  const reading = sheetSeen(state.reading, place);
  return reading === state.reading ? state : { ...state, reading };
}
