import { describe, expect, test } from 'vitest';
import {
  initialList,
  type List,
  type ListState,
  selectedKey,
  selectedSheet,
} from '../../../src/tui/list/list.js';
import { type ListAction, listSeen, reduceList } from '../../../src/tui/list/reduce-list.js';
import { onePart } from '../../../src/tui/reading/parts.js';
import { layOutSheet } from '../../../src/tui/reading/sheet.js';
import { type WordTab, wordList } from './words.js';

const SIZE = { columns: 80, rows: 24 };
const LIST = wordList(['apple', 'pear', 'plum']);
const START = initialList(LIST);

function reduced(actions: readonly ListAction[], list: List<string, WordTab> = LIST, start = START) {
  return actions.reduce<ReturnType<typeof reduceList<string, WordTab>>>(
    ({ state }, action) => reduceList({ list, state }, action, SIZE),
    { state: start, said: null },
  );
}

const move = (by: number): ListAction => ({ type: 'move', by });
const moveFocus = (by: 1 | -1): ListAction => ({ type: 'moveFocus', by });
const search = (words: string): ListAction => ({ type: 'search', words });
const showTab = (index: number): ListAction => ({ type: 'showTab', index });

test.each<[string, readonly ListAction[], Partial<ListState<WordTab>>]>([
  ['moves from the last entry', [move(-1)], { selected: 'pear' }],
  ['stops at the first entry', [move(Number.NEGATIVE_INFINITY), move(-1)], { selected: 'apple' }],
  ['stops at the last entry', [move(5)], { selected: 'plum' }],
  ['follows new entries again', [move(-1), { type: 'last' }], { selected: null }],
  ['shows a tab', [showTab(1)], { tab: 'about' }],
  ['has no further tab', [showTab(2)], {}],
  ['shows a tab from its start', [moveFocus(-1), showTab(1)], { tab: 'about', focus: 0, selected: 'plum' }],
  ['goes to the first part', [moveFocus(1)], { focus: 0, selected: 'plum' }],
  ['goes to the last part', [moveFocus(-1)], { focus: 1, selected: 'plum' }],
  ['goes around', [moveFocus(1), moveFocus(1), moveFocus(1)], { focus: 'list', selected: 'plum' }],
  ['zooms', [{ type: 'toggle', what: 'isZoomed' }], { isZoomed: true }],
  [
    'zooms only until the focus is on the list',
    [moveFocus(1), { type: 'toggle', what: 'isZoomed' }, { type: 'toList' }],
    { selected: 'plum' },
  ],
  [
    'shows and hides bytes',
    [
      { type: 'toggle', what: 'showsBytes' },
      { type: 'toggle', what: 'showsBytes' },
    ],
    {},
  ],
])('a list %s', (_, actions, change) => {
  expect(reduced(actions)).toEqual({ state: { ...START, ...change }, said: null });
});

describe('an entry', () => {
  const longer = wordList(['apple', 'pear', 'plum', 'quince']);

  test('is the newest one, until the user moves or reads', () => {
    const shownAfter = (...actions: readonly ListAction[]) =>
      selectedKey({ list: longer, state: reduced(actions).state });
    expect(shownAfter()).toBe('quince');
    expect(shownAfter(move(0))).toBe('plum');
    expect(shownAfter({ type: 'read', command: 'lineDown' })).toBe('plum');
  });

  test('is preselected if the list says so; then the last one is selected by its key', () => {
    const list = wordList(['apple', 'pear'], { entries: () => ({ ...LIST.entries(), preselected: 0 }) });
    expect(selectedKey({ list, state: START })).toBe('apple');
    expect(reduced([{ type: 'last' }], list).state.selected).toBe('plum');
  });

  test('that no longer exists is replaced by the newest one, unless the list says that it is missing', () => {
    const state = { ...START, selected: 'gone' };
    expect(selectedKey({ list: LIST, state })).toBe('plum');
    expect(selectedKey({ list: { ...LIST, missing: 'It is gone.' }, state })).toBeNull();
  });
});

describe('a search', () => {
  test.each<[string, readonly ListAction[], string | null, string | null]>([
    ['ignores case, and goes on at the start', [search('APP')], 'apple', null],
    ['goes to the next match', [search('p'), { type: 'nextMatch', step: 1 }], 'pear', null],
    ['goes to the previous match', [search('p'), { type: 'nextMatch', step: -1 }], 'plum', null],
    ['without a match selects nothing', [search('fig')], null, 'not found: "fig"'],
    ['without a text says so', [{ type: 'nextMatch', step: 1 }], null, 'no search text'],
  ])('in the list %s', (_, actions, selected, said) => {
    const change = reduced(actions);
    expect([change.state.selected, change.said]).toEqual([selected, said]);
  });

  test('is in the text, if that has the focus', () => {
    const { state, said } = reduced([moveFocus(1), search('line 50')]);
    expect(said).toBe('match 1 of 1 on line 50');
    expect(state.wanted).toBeNull();
  });
});

describe('the text of an entry', () => {
  const lineIn = (state: ListState<WordTab>) => {
    const place = selectedSheet({ list: LIST, state }, SIZE);
    return place && layOutSheet(state.reading, place).slots[0]?.position.line;
  };

  test('is scrolled, and each entry has its own position', () => {
    const { state } = reduced([{ type: 'read', command: 'lineDown' }]);
    expect(lineIn(state)).toBe(1);
    expect(lineIn(reduced([move(-1)], LIST, state).state)).toBe(0);
    expect(lineIn(reduced([move(-1), move(1)], LIST, state).state)).toBe(1);
  });

  test('is not scrolled in an empty list', () => {
    expect(reduced([{ type: 'read', command: 'lineDown' }], wordList([]))).toEqual({
      state: START,
      said: null,
    });
  });

  test('is remembered as seen only if it grows', () => {
    const grows = wordList(['plum'], { sheetOf: word => onePart([], [[]], word === 'plum') });
    const seen = (list: List<string, WordTab>) => {
      const place = selectedSheet({ list, state: START }, SIZE);
      return place && listSeen(START, place);
    };
    expect(seen(LIST)).toBe(START);
    expect(seen(grows)?.reading.positions.size).toBe(1);
  });
});
