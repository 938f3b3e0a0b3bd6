import { describe, expect, test } from 'vitest';
import { columnWidth, createTheme, fitRows, sideBySide, stack } from '../../src/render/terminal/theme.js';

describe('sideBySide', () => {
  test('pads by what is seen', () => {
    expect(sideBySide(['日本', createTheme(1).bad('ab')], ['x', 'y', 'z'], { width: 14, gap: 2 })).toEqual([
      '日本    x',
      '\u001b[31mab\u001b[39m      y',
      '        z',
    ]);
  });

  test('each column has half of what the gap leaves', () => {
    expect(columnWidth({ width: 81, gap: 3 })).toBe(39);
    expect(columnWidth({ width: 1, gap: 3 })).toBe(0);
  });
});

test('stack parts blocks by one blank row', () => {
  expect(stack(['a'], [], ['b', 'c'])).toEqual(['a', '', 'b', 'c']);
});

describe('fitRows', () => {
  const more = (count: number) => `… ${count} more lines`;
  test.each([
    [4, ['a', 'b', 'c', 'd']],
    [3, ['a', 'b', '… 2 more lines']],
    [1, ['… 4 more lines']],
    [0, []],
  ])('into %i rows', (max, fitted) => {
    expect(fitRows(['a', 'b', 'c', 'd'], max, more)).toEqual(fitted);
  });
});
