import { expect, test } from 'vitest';
import { Footer } from '../../../src/tui/components/Footer.js';
import { pickerOf } from '../../../src/tui/picker.js';
import { layOutScreen, QUIT_HINTS } from '../../../src/tui/screen/layout.js';
import { EMPTY_SCREEN, type Overlay } from '../../../src/tui/screen/state.js';
import { textInput } from '../../../src/tui/text-input.js';
import { question } from '../../screen/support/scenes.js';
import { rowsOf } from '../drawn.js';

const HINTS = {
  hints: [
    ['↑↓', 'select'],
    ['/', 'search'],
  ],
  ends: QUIT_HINTS,
} as const;

function footerOf(overlay: Overlay<string> | null, columns = 80): readonly string[] {
  const state = { ...EMPTY_SCREEN, size: { columns, rows: 24 }, overlay };
  const layout = layOutScreen(state, () => [], 0);
  return rowsOf(<Footer state={state} layout={layout} hints={HINTS} />, columns);
}

const picker = pickerOf(question('Where to?', ['staging', 'production']));
const page = { title: [], text: 'text', isCommand: false };

test.each<[string, Overlay<string> | null, string]>([
  ['the keys of the screen', null, '↑↓ select   / search   ? keys   q quit'],
  ['those of a page', { kind: 'page', scroll: 0, page }, '↑↓ PgUp PgDn scroll   Esc close   Ctrl-C quit'],
  [
    'those of the help',
    { kind: 'help', scroll: 0, filter: null },
    '↑↓ PgUp PgDn scroll   / filter   Esc close   Ctrl-C quit',
  ],
  ['the filter of the help', { kind: 'help', scroll: 0, filter: textInput('wrap') }, 'Filter: wrap'],
  [
    'a prompt',
    { kind: 'prompt', purpose: 'open', label: 'Open: ', input: textInput('a'), isSuggested: false },
    'Open: a',
  ],
  [
    'the keys of a question',
    { kind: 'question', purpose: 'answer', picker, escapeHint: 'later' },
    '↑↓ select   Ctrl-C quit   ⏎ choose   Esc later',
  ],
])('shows %s', (_, overlay, row) => {
  expect(footerOf(overlay).map(each => each.trimEnd())).toEqual([row]);
});

test('keeps the last keys if there is little room', () => {
  expect(footerOf(null, 30)).toEqual(['↑↓ select   ? keys   q quit']);
  expect(footerOf(null, 20)).toEqual(['? keys   q quit']);
});
