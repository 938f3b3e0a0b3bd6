import type { Hint } from '../../hints.js';
import type { Entry } from '../state/entries.js';
import type { Server } from '../world.js';

/** The keys of the Tools page, with this row selected, if there is one. */
export function toolsHints(entry: Entry | undefined): readonly Hint[] {
  return [
    ...(entry ? ([['↑↓', 'select'], ...entryHints(entry)] as const) : []),
    ['c', 'calls'],
    ['u', 'open a URL'],
    ...(entry ? ([['/', 'search']] as const) : []),
  ];
}

function entryHints(entry: Entry): readonly Hint[] {
  if (entry.kind === 'server') return SERVER_HINTS[entry.server.state.kind];
  return entry.rivals > 1 ? [] : [['⏎', 'fill in']];
}

const SERVER_HINTS: Readonly<Record<Server['state']['kind'], readonly Hint[]>> = {
  loading: [],
  asleep: [['⏎', 'start it']],
  ready: [['⏎', 'ask again']],
  failed: [
    ['⏎', 'ask again'],
    ['x', 'take out'],
  ],
};
