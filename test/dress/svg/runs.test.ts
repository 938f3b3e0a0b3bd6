import { Chalk } from 'chalk';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { runsOf } from '../../../src/render/terminal/svg.js';

const chalk = new Chalk({ level: 2 });
const placesOf = (row: string) => runsOf(row).map(({ column, text, width }) => [column, text, width]);

test.each([
  ['one look is one run', 'plain text', [[0, 'plain text', 10]]],
  ['blanks that nobody sees are left out', '   a b   ', [[3, 'a b', 3]]],
  ['an empty row has none', '', []],
  ['a row of blanks has none', '    ', []],
  ['painted blanks stay', chalk.bgRed('  '), [[0, '  ', 2]]],
  [
    'another look is another run',
    `a${chalk.red('b')}c`,
    [
      [0, 'a', 1],
      [1, 'b', 1],
      [2, 'c', 1],
    ],
  ],
  [
    'wide characters keep their cells',
    'a漢字b',
    [
      [0, 'a', 1],
      [1, '漢字', 4],
      [5, 'b', 1],
    ],
  ],
  [
    'so does an emoji, though it is as long as it is wide',
    '👍|',
    [
      [0, '👍', 2],
      [2, '|', 1],
    ],
  ],
  ['a letter and its marks stay together', 'e\u0301x', [[0, 'e\u0301x', 2]]],
])('%s', (_, row, places) => {
  expect(placesOf(row)).toEqual(places);
});

test('every run stands where the row has it', () => {
  const piece = fc.tuple(
    fc.string({ unit: fc.constantFrom('a', ' ', '漢', 'é', '👍', '<', '✓'), maxLength: 8 }),
    fc.constantFrom(chalk, chalk.red, chalk.bold, chalk.bgAnsi256(22)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), pieces => {
      const row = pieces.map(([text, paint]) => paint(text)).join('');
      const plain = pieces.map(([text]) => text).join('');
      let end = 0;
      for (const { column, text, width } of runsOf(row)) {
        expect(column).toBeGreaterThanOrEqual(end);
        expect(width).toBe(stringWidth(text));
        end = column + width;
      }
      expect(end).toBeLessThanOrEqual(stringWidth(plain));
      const said = runsOf(row).map(({ text }) => text);
      expect(said.join('').replaceAll(' ', '')).toBe(plain.replaceAll(' ', ''));
    }),
    { numRuns: 200 },
  );
});
