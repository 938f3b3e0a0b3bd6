import { expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import {
  currentNotices,
  EMPTY_SCREEN,
  type NoticeKind,
  type Overlay,
  reduceScreen,
  type ScreenAction,
  type ScreenState,
  withMessage,
} from '../../../src/tui/screen/state.js';
import { textInput } from '../../../src/tui/text-input.js';

type Action = ScreenAction<'search'>;

const reduced = (...actions: readonly Action[]) =>
  actions.reduce<ScreenState<'search'>>(reduceScreen, EMPTY_SCREEN);

const HELP: Overlay<'search'> = { kind: 'help', scroll: 0, filter: null };
const PROMPT: Overlay<'search'> = {
  kind: 'prompt',
  purpose: 'search',
  label: '/',
  input: textInput(''),
  isSuggested: false,
};
const PAGE: Overlay<'search'> = {
  kind: 'page',
  scroll: 0,
  page: { title: [], text: 'text', isCommand: false },
};

const show = (overlay: Overlay<'search'> | null): Action => ({ type: 'show', overlay });
const scroll = (by: number): Action => ({ type: 'scroll', by, max: 5 });
const note = (kind: NoticeKind, text: string, until = 10): Action => ({
  type: 'note',
  kind,
  lines: [[say(text)]],
  until,
});
const noticeOf = (text: string, until = 10) => ({ lines: [[say(text)]], until });

test.each<[string, readonly Action[], Partial<ScreenState<'search'>>]>([
  [
    'has a new size',
    [{ type: 'resized', size: { columns: 40, rows: 8 } }],
    { size: { columns: 40, rows: 8 } },
  ],
  ['counts changes', [{ type: 'changed' }, { type: 'changed' }], { revision: 2 }],
  ['shows an overlay', [show(HELP)], { overlay: HELP }],
  ['shows one overlay at a time', [show(HELP), show(PROMPT)], { overlay: PROMPT }],
  ['closes an overlay', [show(PROMPT), show(null)], { overlay: null }],
  ['scrolls the help', [show(HELP), scroll(3), scroll(-1)], { overlay: { ...HELP, scroll: 2 } }],
  ['scrolls a page to its end', [show(PAGE), scroll(9)], { overlay: { ...PAGE, scroll: 5 } }],
  ['scrolls a page to its start', [show(PAGE), scroll(3), scroll(-9)], { overlay: PAGE }],
  ['scrolls no prompt', [show(PROMPT), scroll(1)], { overlay: PROMPT }],
  ['scrolls nothing without an overlay', [scroll(1)], {}],
  [
    'keeps a notice of each kind',
    [note('event', 'a'), note('key', 'b')],
    { notices: { event: noticeOf('a'), key: noticeOf('b') } },
  ],
  [
    'replaces a notice of the same kind',
    [note('key', 'a'), note('key', 'b')],
    { notices: { key: noticeOf('b') } },
  ],
  [
    'forgets the notice about a key',
    [note('key', 'a'), note('server', 'b'), { type: 'forgetKey' }],
    { notices: { server: noticeOf('b') } },
  ],
])('a screen %s', (_, actions, change) => {
  expect(reduced(...actions)).toEqual({ ...EMPTY_SCREEN, ...change });
});

test('a notice is shown until its time', () => {
  const state = reduced(note('server', 'a', 10), note('key', 'b', 20));
  expect(currentNotices(state, 9)).toEqual([noticeOf('a', 10), noticeOf('b', 20)]);
  expect(currentNotices(state, 10)).toEqual([noticeOf('b', 20)]);
});

test('a message is a notice about a key, made safe to print; null shows nothing', () => {
  expect(withMessage(EMPTY_SCREEN, null, 10)).toBe(EMPTY_SCREEN);
  const [notice] = currentNotices(withMessage(EMPTY_SCREEN, 'a\u001b', 10), 0);
  expect(notice?.lines).toEqual([[say('a'), say('␛', 'hidden')]]);
});
