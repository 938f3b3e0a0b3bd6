import type { Line } from '../../../story/line.js';
import { type Hint, hintsLine } from '../../hints.js';
import { PAGE_ENDS, PAGE_HINTS } from '../../keys/scroll.js';
import type { Entry } from '../state/entries.js';
import type { Purpose, State } from '../state/state.js';
import { toolsHints } from './tools-hints.js';

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];
const TYPING: readonly Hint[] = [
  ['Ctrl-G', 'keys'],
  ['Esc', 'back'],
  ['Ctrl-C', 'quit'],
];

/** What matters now of what is selected: of the row of tools, and of the call. */
export interface Matters {
  readonly entry: Entry | undefined;
  readonly asks: boolean;
  readonly hasPage: boolean;
  readonly isRunning: boolean;
  readonly hasDiff: boolean;
}

/** The keys that matter now; as many as there is room for, and always how to see the others. */
export function footLine(state: State, matters: Matters, columns: number): Line {
  if (state.overlay?.kind === 'help' || state.overlay?.kind === 'copied')
    return hintsLine(PAGE_HINTS, PAGE_ENDS, columns);
  if (state.page === 'form')
    return hintsLine(
      [
        ['Ctrl-R', 'run'],
        ['Ctrl-E', 'JSON'],
        ['↑↓', 'field'],
      ],
      TYPING,
      columns,
    );
  if (state.page === 'tools') return hintsLine(toolsHints(matters.entry), ENDS, columns);
  const first = pressing(matters);
  const hints = state.calls.focus === 'list' ? LIST : readingHints(matters);
  return hintsLine([...first, ...hints], ENDS, columns);
}

const LIST: readonly Hint[] = [
  ['↑↓', 'select'],
  ['⏎', 'read'],
  ['1-5', 'tabs'],
  ['r', 'run again'],
  ['e', 'edit'],
  ['y', 'curl'],
  ['s', 'fixture'],
  ['t', 'tools'],
];

function readingHints({ hasDiff }: Matters): readonly Hint[] {
  return [
    ['↑↓', 'scroll'],
    ...(hasDiff ? ([[']', 'next hunk']] as const) : []),
    ['/', 'search'],
    ['Tab', 'pane'],
    ['m', 'alone'],
    ['Esc', 'list'],
    ['y', 'curl'],
    ['s', 'fixture'],
  ];
}

/** What somebody waits for comes first. */
function pressing({ asks, hasPage, isRunning }: Matters): readonly Hint[] {
  return [
    ...(asks ? ([['a', 'answer']] as const) : []),
    ...(hasPage ? ([['o', 'consent page']] as const) : []),
    ...(isRunning ? ([['x', 'cancel']] as const) : []),
  ];
}

/** Before what is typed. */
export const PROMPTS: Readonly<Record<Purpose, string>> = {
  server: 'Tool server (URL, :port or demo): ',
  transcript: 'Open transcript: ',
  'save-transcript': 'Save the transcript as: ',
  'save-fixture': 'Save as fixture: ',
  search: '/',
};
