import { describe, expect, test } from 'vitest';
import type { Command } from '../../src/tui/list.js';
import { FIRST_VIEW, selectedIndex, stepView, type View } from '../../src/tui/list.js';

const CALLS = ['a', 'b', 'c', 'd'];
const STAGE = { calls: CALLS, height: 10, most: 25 };

/** The view after these keys. */
function viewAfter(...commands: Command[]): View {
  return commands.reduce((view, command) => stepView(view, command, STAGE), FIRST_VIEW);
}

describe('the selection', () => {
  test.each<[Command[], string | null]>([
    [[], null],
    [['up'], 'c'],
    [['up', 'up', 'down'], 'c'],
    [['up', 'up', 'up', 'up', 'up'], 'a'],
    [['down'], 'd'],
    [['first'], 'a'],
    [['first', 'follow'], null],
    [['details', 'up'], 'c'],
  ])('after %j is %j', (commands, selected) => {
    expect(viewAfter(...commands).selected).toBe(selected);
  });

  test('sticks to its call as others come and go; a forgotten one gives way to the oldest', () => {
    const view = viewAfter('up');
    expect(selectedIndex(view, ['b', 'c', 'd', 'e', 'f'])).toBe(1);
    expect(selectedIndex(view, ['e', 'f'])).toBe(0);
  });

  test('follows the newest until a key says otherwise', () => {
    expect(selectedIndex(FIRST_VIEW, ['a', 'b'])).toBe(1);
    expect(selectedIndex(FIRST_VIEW, ['a', 'b', 'c'])).toBe(2);
  });

  test('is nothing where there are no calls', () => {
    expect(stepView(FIRST_VIEW, 'down', { ...STAGE, calls: [] })).toEqual(FIRST_VIEW);
  });
});

describe('scrolling', () => {
  test('goes by pages that share a row, to the end and no further, and keeps to the call that is read', () => {
    expect(viewAfter('pageDown')).toEqual({ page: 'list', selected: 'd', scroll: 9 });
    expect(viewAfter('pageDown', 'pageDown', 'pageDown', 'pageDown').scroll).toBe(25);
    expect(viewAfter('pageDown', 'pageDown', 'pageUp').scroll).toBe(9);
    expect(viewAfter('pageUp').scroll).toBe(0);
  });

  test('begins anew with another call', () => {
    expect(viewAfter('pageDown', 'up').scroll).toBe(0);
  });
});

test('pages: the details and the help, each from the list and back', () => {
  expect(viewAfter('details').page).toBe('details');
  expect(viewAfter('details', 'details').page).toBe('list');
  expect(viewAfter('help').page).toBe('help');
  expect(viewAfter('help', 'help').page).toBe('list');
  expect(viewAfter('help', 'details').page).toBe('list');
});

test('to quit leaves the view as it is', () => {
  expect(viewAfter('quit')).toEqual(FIRST_VIEW);
});
