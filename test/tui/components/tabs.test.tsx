import { expect, test } from 'vitest';
import { Tabs } from '../../../src/tui/components/Tabs.js';
import { rowsOf } from '../drawn.js';

const TABS = [
  { title: 'Call', isChosen: false, isMarked: false },
  { title: 'Wire', isChosen: true, isMarked: false },
  { title: 'Problems', isChosen: false, isMarked: true },
];

test.each([
  [40, ' 1 Call  [2 Wire]  3 Problems !'],
  [33, ' 1 Call  [2 Wire]  3 Problems !'],
  [32, ' 1  [2 Wire]  3 !'],
  [10, ' 1  [2 Wi…'],
])('in %i columns the tabs are "%s"', (columns, row) => {
  expect(rowsOf(<Tabs tabs={TABS} width={columns} />, columns)).toEqual([row]);
});
