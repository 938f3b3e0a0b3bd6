import { describe, expect, test } from 'vitest';
import { lineText } from '../../../src/render/line.js';
import { createPager, reducePager } from '../../../src/tui/pager/pager.js';
import { EMPTY_SCREEN } from '../../../src/tui/screen/state.js';

/** A text of so many rows, in a terminal that shows eight of them. */
function pagerOf(count: number) {
  const made = { rows: 0 };
  const quits = { count: 0 };
  const text = {
    name: 'a.txt',
    *rowsFor(width: number) {
      for (let row = 1; row <= count; row++) {
        made.rows++;
        yield `row ${row} of ${width} columns`;
      }
    },
  };
  const pager = createPager(text, () => quits.count++);
  pager.store.dispatch({ type: 'resized', size: { columns: 80, rows: 10 } });
  const press = (...names: readonly string[]) => {
    for (const name of names) pager.press({ name, text: '' });
    return pager.store.state().top;
  };
  return { ...pager, press, made, quits };
}

test('the reducer goes to a row, and no further up than the first', () => {
  const start = { ...EMPTY_SCREEN, top: 3 };
  expect(reducePager(start, { type: 'goTo', top: 7 }).top).toBe(7);
  expect(reducePager(start, { type: 'goTo', top: -7 }).top).toBe(0);
  expect(reducePager(start, { type: 'changed' })).toEqual({ ...start, revision: 1 });
});

describe('a key', () => {
  test.each([
    [['j', 'down', 'enter', 'k'], 2],
    [['pagedown', 'space', 'b'], 8],
    [['wheeldown', 'wheeldown', 'wheelup'], 3],
    [['G'], 92],
    [['end', 'j', 'pageup'], 84],
    [['end', 'home', 'up'], 0],
    [['x'], 0],
  ])('%j scrolls to row %i', (keys, top) => {
    expect(pagerOf(100).press(...keys)).toBe(top);
  });

  test.each(['q', 'escape', 'ctrl+c'])('%s quits', key => {
    const { press, quits } = pagerOf(1);
    press(key);
    expect(quits.count).toBe(1);
  });
});

test('shows a page, and makes only one row more', () => {
  const pager = pagerOf(1_000_000);
  pager.press('pagedown');
  expect(pager.rows()).toHaveLength(8);
  expect(pager.rows()[0]).toBe('row 9 of 80 columns');
  expect(lineText(pager.footer())).toMatch(/^rows 9–16 of 17\+ · q quit .* a\.txt$/);
  expect(pager.made.rows).toBe(17);
});

test('is made again for another width, and stays within the text', () => {
  const pager = pagerOf(20);
  pager.press('end');
  expect(lineText(pager.footer())).toContain('rows 13–20 of 20 ');
  pager.store.dispatch({ type: 'resized', size: { columns: 40, rows: 30 } });
  expect(pager.rows()).toHaveLength(20);
  expect(pager.rows()[0]).toBe('row 1 of 40 columns');
});
