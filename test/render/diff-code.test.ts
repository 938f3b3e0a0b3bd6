import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeSpans } from '../../src/render/diff.js';
import { visible } from '../../src/util/visible.js';
import { words } from '../support/words.js';

const text = fc
  .array(fc.constantFrom('a', ' ', '😀', '\u202e', '\u001b', '日'), { maxLength: 12 })
  .map(parts => parts.join(''));
/** Any way to cut a text, between the halves of a character too. */
const cutOf = (given: string) =>
  fc.uniqueArray(fc.nat(given.length)).map(places => {
    const ends = [...places, given.length].toSorted((a, b) => a - b);
    return ends.map((end, index) => given.slice(ends[index - 1] ?? 0, end));
  });

describe('a row of code', () => {
  test('marks are the ground, roles the tone, and a hidden character stays one', () => {
    const spans = codeSpans({
      text: 'let \u202ea',
      kind: 'added',
      marks: [
        { text: 'let ', changed: false },
        { text: '\u202ea', changed: true },
      ],
      tokens: [
        { text: 'let', role: 'keyword' },
        { text: ' \u202ea', role: 'name' },
      ],
    });
    expect(spans).toEqual([
      { text: 'let', tone: 'keyword', ground: 'added' },
      { text: ' ', tone: 'name', ground: 'added' },
      { text: '<U+202E>', tone: 'hidden', ground: 'added-word' },
      { text: 'a', tone: 'name', ground: 'added-word' },
    ]);
  });

  test('an unchanged one has no ground, an empty one has its own', () => {
    expect(codeSpans({ text: 'a', kind: 'context', marks: [], tokens: [] })).toEqual([
      { text: 'a', tone: 'plain' },
    ]);
    expect(codeSpans({ text: '', kind: 'removed', marks: [], tokens: [] })).toEqual([
      { text: '', tone: 'plain', ground: 'removed' },
    ]);
  });

  test('reads the same however it is cut', () => {
    const cut = text.chain(given => fc.tuple(fc.constant(given), cutOf(given), cutOf(given)));
    fc.assert(
      fc.property(cut, ([given, marks, tokens]) => {
        const spans = codeSpans({
          text: given,
          kind: 'added',
          marks: marks.map((piece, index) => ({ text: piece, changed: index % 2 === 0 })),
          tokens: tokens.map((piece, index) => ({ text: piece, role: index % 2 === 0 ? 'string' : null })),
        });
        expect(words(spans)).toBe(visible(given));
      }),
    );
  });
});
