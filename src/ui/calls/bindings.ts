import type { ReadingCommand } from '../document/index.js';
import { type Binding, bind } from '../keys/table.js';

export type TabCommand = `tab${(typeof NUMBERS)[number]}`;

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
