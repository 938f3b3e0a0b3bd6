import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../../src/display/diff.js';
import type { Rows } from '../../../src/display/diff-model.js';
import { Highlighter } from '../../../src/display/syntax.js';
import { lexerOf } from '../../../src/display/syntax-lexers.js';

function rowsOf(body: string): Rows {
  const parsed = parsePatch(`--- x\n+++ x\n@@ -1,99 +1,99 @@\n${body}`);
  const rows = parsed.ok ? parsed.diff.files[0]?.hunks[0]?.rows : undefined;
  if (!rows) throw new Error('it is not a diff');
  return rows;
}

/** A lexer for which each text is one keyword, and what it was given. */
function fakeLexer() {
  const texts: string[] = [];
  const highlighter = new Highlighter(() => text => {
    texts.push(text);
    return [{ text, role: 'keyword' }];
  });
  return { texts, highlighter };
}

describe('what a row means', () => {
  test('depends on those before it, in its own version of the file', () => {
    const rows = rowsOf(' /*\n-*/ let a\n+let b\n */\n');
    const highlighter = new Highlighter(lexerOf);
    const roles = [0, 1, 2, 3].map(row => highlighter.tokensOf('x.js', rows, row));
    expect(roles[1]).toEqual([
      { text: '*/', role: 'comment' },
      { text: ' ', role: null },
      { text: 'let', role: 'keyword' },
      { text: ' a', role: null },
    ]);
    expect(roles[2]).toEqual([{ text: 'let b', role: 'comment' }]);
    expect(roles[3]).toEqual([{ text: '*/', role: 'comment' }]);
  });

  test('is not known in an unknown language', () => {
    const { highlighter, texts } = fakeLexer();
    expect(highlighter.tokensOf('x.unknown', rowsOf('+let b\n'), 0)).toBeNull();
    expect(texts).toEqual([]);
  });
});

describe('only what is needed is read', () => {
  test('no further than a bit beyond the row, and once', () => {
    const { highlighter, texts } = fakeLexer();
    const rows = rowsOf('+a\n'.repeat(1_000));
    expect(highlighter.tokensOf('x.js', rows, 10)).toEqual([{ text: 'a', role: 'keyword' }]);
    highlighter.tokensOf('x.js', rows, 20);
    expect(texts.map(text => text.length)).toEqual([127, 0].toReversed());
    highlighter.tokensOf('x.js', rows, 100);
    expect(Math.max(...texts.map(text => text.length))).toBe(255);
  });

  test('no endless row, and none of an endless hunk', () => {
    const { highlighter } = fakeLexer();
    const rows = rowsOf(`+${'x'.repeat(1_001)}\n+b\n`);
    expect(highlighter.tokensOf('x.js', rows, 0)).toBeNull();
    expect(highlighter.tokensOf('x.js', rows, 1)).toEqual([{ text: 'b', role: 'keyword' }]);
    expect(highlighter.tokensOf('x.js', rowsOf('+a\n'.repeat(2_001)), 0)).toBeNull();
  });
});

describe('colour is not worth waiting for', () => {
  test('a grammar that does not come to an end is stopped, and asked no more', () => {
    let calls = 0;
    const highlighter = new Highlighter(() => () => {
      calls++;
      for (;;);
    });
    for (let hunk = 0; hunk < 20; hunk++) expect(highlighter.tokensOf('x.js', rowsOf('+a\n'), 0)).toBeNull();
    expect(calls).toBe(1);
  });

  test('a text that is hard for a real grammar is given up too', () => {
    const rows = rowsOf(`+${'def '.repeat(225)}\n`.repeat(50));
    const start = performance.now();
    new Highlighter(lexerOf).tokensOf('x.ino', rows, 49);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  test('one that breaks leaves the text as it is', () => {
    const highlighter = new Highlighter(() => () => {
      throw new Error('broken');
    });
    expect(highlighter.tokensOf('x.js', rowsOf('+a\n'), 0)).toBeNull();
  });
});
