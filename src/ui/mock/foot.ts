import type { Line } from '../../story/line.js';
import { type Hint, hintsLine } from '../hints.js';
import { PAGE_ENDS, PAGE_HINTS } from '../keys/scroll.js';
import { TABS } from './sheets/tabs.js';
import type { State } from './state.js';

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

/** The keys that matter now; as many as there is room for, and always how to see the others. */
export function footLine({ overlay, calls, isPaused }: State, hasDiff: boolean, columns: number): Line {
  if (overlay?.kind === 'help') return hintsLine(PAGE_HINTS, PAGE_ENDS, columns);
  const doings: readonly Hint[] = [
    ['r', 'replay'],
    ['e', 'fire'],
    ['p', isPaused ? 'resume' : 'pause'],
    ['R', 'reload'],
  ];
  const hints = calls.focus === 'list' ? [...LIST, ...doings, FOLLOW] : [...reading(hasDiff), ...doings];
  return hintsLine(hints, ENDS, columns);
}

const LIST: readonly Hint[] = [
  ['↑↓', 'select'],
  ['⏎', 'read'],
  [`1-${TABS.length}`, 'tabs'],
];
const FOLLOW: Hint = ['G', 'follow'];

function reading(hasDiff: boolean): readonly Hint[] {
  return [
    ['↑↓', 'scroll'],
    ...(hasDiff ? ([[']', 'next hunk']] as const) : []),
    ['/', 'search'],
    ['Esc', 'list'],
  ];
}
