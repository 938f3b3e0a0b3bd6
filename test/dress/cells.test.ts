import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { cellsOf } from '../../src/render/terminal/cells.js';
import { CHARACTERS } from './support/characters.js';

/** Beyond it all are measured by the library itself. */
const LAST_COUNTED = 0xff60;

test('each character has the cells that the library gives it', () => {
  const other: string[] = [];
  for (let code = 0; code <= LAST_COUNTED; code++) {
    const character = String.fromCharCode(code);
    if (cellsOf(character) !== stringWidth(character)) other.push(code.toString(16));
  }
  expect(other).toEqual([]);
});

test('so have texts of them, whatever stands beside what', () => {
  const texts = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 12 }).map(parts => parts.join(''));
  const isSame = (text: string) => cellsOf(text) === stringWidth(text);
  fc.assert(fc.property(texts, isSame), { numRuns: 2_000 });
});

test.each([
  ['marked letters', 'a\uFE0F', 1],
  ['emoji', '👩‍👩‍👧', 2],
  ['halves of characters', '\uD800', 0],
])(
  'a long text of %s is measured in a time that grows as it does: whoever sends it stops nobody',
  (_, cluster, cells) => {
    const count = Math.floor(400_000 / cluster.length / 1_000) * 1_000;
    expect(cellsOf(cluster.repeat(count)) / count).toBeCloseTo(cells, 1);
  },
);
