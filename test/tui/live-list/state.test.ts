import { expect, test } from 'vitest';
import { quote } from '../../../src/render/line.js';
import { selectedSheet } from '../../../src/tui/list/list.js';
import type { ListAction } from '../../../src/tui/list/reduce-list.js';
import { initialLiveList, type LiveListAction, liveListReducer } from '../../../src/tui/live-list/state.js';
import { onePart } from '../../../src/tui/reading/parts.js';
import { wordList } from '../list/words.js';

const LIST = wordList(['apple', 'plum'], { sheetOf: () => onePart([], [[]], true) });
const START = initialLiveList(LIST);
const ROOM = { columns: 80, rows: 20 };

const reduce = liveListReducer(LIST);
const reduced = (...actions: readonly LiveListAction[]) => actions.reduce(reduce, START);
const onList = (action: ListAction): LiveListAction => ({ type: 'list', action, room: ROOM, until: 10 });

test('an action on the list changes the list only', () => {
  const list = { ...START.list, selected: 'apple' };
  expect(reduced(onList({ type: 'move', by: -1 }))).toEqual({ ...START, list });
});

test('a message of the list is a notice', () => {
  expect(reduced(onList({ type: 'search', words: 'fig' })).notices).toEqual({
    key: { lines: [quote('not found: "fig"')], until: 10 },
  });
});

test('a growing text that was seen is remembered', () => {
  const place = selectedSheet({ list: LIST, state: START.list }, ROOM);
  if (!place) throw new Error('nothing is selected');
  expect(START.list.reading.positions.size).toBe(0);
  expect(reduced({ type: 'seen', place }).list.reading.positions.size).toBe(1);
});

test('any other action is one of the screen', () => {
  expect(reduced({ type: 'changed' })).toEqual({ ...START, revision: 1 });
});
