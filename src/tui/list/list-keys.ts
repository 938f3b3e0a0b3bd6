import { bind, type Hint } from '../keys.js';
import type { ReadingCommand } from '../reading/commands.js';
import type { ListControls } from './list-controls.js';
import type { ListAction } from './reduce-list.js';

export const unlessEmpty =
  <Shown extends Hint | string>(hint: Shown) =>
  ({ isListEmpty }: Pick<ListControls, 'isListEmpty'>) =>
    isListEmpty() ? null : hint;

const inList = (keys: string, does: string, action: ListAction, hint?: Hint | string) =>
  bind<ListControls>('list', keys, does, ({ onList }) => onList(action), hint && unlessEmpty(hint));

const inReading = (keys: string, does: string, action: ListAction, hint?: Hint | string) =>
  bind<ListControls>('reading', keys, does, ({ onList }) => onList(action), hint);

const copy = (place: 'list' | 'reading') =>
  bind<ListControls>(place, 'ctrl+y', 'copy the text of the pane', ({ copyText }) => copyText());

const read = (command: ReadingCommand) => ({ type: 'read', command }) as const;

const FOLD = 'show or fold unchanged lines, or rules that passed';

export const LIST_KEYS = [
  inList('up k', 'the previous entry', { type: 'move', by: -1 }, ['↑↓', 'select']),
  inList('down j', 'the next entry', { type: 'move', by: 1 }),
  inList('enter right', 'read it', { type: 'moveFocus', by: 1 }, 'read'),
  inList('home g', 'the first entry', { type: 'move', by: Number.NEGATIVE_INFINITY }),
  inList('end G', 'the last entry; new calls are followed', { type: 'last' }),
  inList('tab', 'the next pane', { type: 'moveFocus', by: 1 }),
  inList('shift+tab', 'the previous pane', { type: 'moveFocus', by: -1 }),
  inList('pagedown space', 'scroll the details down', read('pageDown')),
  inList('pageup', 'scroll the details up', read('pageUp')),
  bind<ListControls>('list', '/', 'search the list', ({ askSearch }) => askSearch(), unlessEmpty('search')),
  inList('wheelup', 'scroll the details up', read('wheelUp')),
  inList('wheeldown', 'scroll the details down', read('wheelDown')),
  inList('z', FOLD, read('fold')),
  inList('n', 'the next match', { type: 'nextMatch', step: 1 }),
  inList('N', 'the previous match', { type: 'nextMatch', step: -1 }),
  copy('list'),
];

export const READING_KEYS = [
  inReading('up k', 'a line up', read('lineUp'), ['↑↓', 'scroll']),
  inReading('down j', 'a line down', read('lineDown')),
  inReading('pagedown space', 'a page down', read('pageDown')),
  inReading('pageup', 'a page up', read('pageUp')),
  inReading('wheelup', 'scroll up', read('wheelUp')),
  inReading('wheeldown', 'scroll down', read('wheelDown')),
  inReading('home g', 'the first line', read('top')),
  inReading('end G', 'the last line', read('bottom')),
  inReading('left h', 'scroll left (unwrapped lines)', read('left')),
  inReading('right l', 'scroll right', read('right')),
  bind<ListControls>('reading', '/', 'search', ({ askSearch }) => askSearch(), 'search'),
  inReading('n', 'the next match', read('nextMatch')),
  inReading('N', 'the previous match', read('previousMatch')),
  inReading('tab', 'the next pane', { type: 'moveFocus', by: 1 }, 'pane'),
  inReading('shift+tab', 'the previous pane', { type: 'moveFocus', by: -1 }),
  inReading('m', 'this pane only, or all panes', { type: 'toggle', what: 'isZoomed' }, 'zoom'),
  inReading('escape', 'back to the list', { type: 'toList' }, 'list'),
  bind<ListControls>(
    'reading',
    ']',
    'the next hunk',
    ({ onList }) => onList(read('nextHunk')),
    ({ hasHunks }) => (hasHunks() ? 'next hunk' : null),
  ),
  inReading('[', 'the previous hunk', read('previousHunk')),
  inReading('}', 'the next file', read('nextFile')),
  inReading('{', 'the previous file', read('previousFile')),
  inReading('w', 'wrap or cut long lines', read('wrap')),
  inReading('v', 'diff side by side, or unified', read('split')),
  inReading('z', FOLD, read('fold')),
  copy('reading'),
];

export function tabKeys(place: 'tools' | 'calls', tabs: readonly { readonly title: string }[]) {
  const keys = tabs.map(({ title }, index) => {
    const isFirst = index === 0 && place === 'calls';
    const hint = isFirst ? unlessEmpty([`1-${tabs.length}`, 'tabs'] as const) : null;
    const show = ({ onList }: ListControls) => onList({ type: 'showTab', index });
    return bind<ListControls>(place, `${index + 1}`, title, show, hint);
  });
  const toggleBytes = ({ onList }: ListControls) => onList({ type: 'toggle', what: 'showsBytes' });
  const bytes = bind<ListControls>('calls', 'b', 'show or hide raw bytes in the timeline', toggleBytes);
  return place === 'calls' ? [...keys, bytes] : keys;
}
