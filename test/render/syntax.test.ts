import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Highlighter, loadHighlighter } from '../../src/render/syntax.js';
import { lexerFor } from '../../src/render/syntax-lexers.js';
import { parsePatch } from '../../src/segments/diff.js';
import type { Rows } from '../../src/segments/hunks.js';
import { chooseSegment, type Drawing, knownTypes } from '../../src/segments/segments.js';
import { anyCodePoint } from '../support/characters.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const FILES = [
  ...['src/main.rs', 'a/b.test.ts', 'C:\\work\\x.PY', 'x.go', 'x.jsonc', 'Makefile', 'x.md', 'x.toml'],
  ...['.bashrc', 'x.ksh', '.editorconfig', 'x.m', 'x.pyi', 'Gemfile', 'x.wat', 'x.vue', 'x.webmanifest'],
];

describe('languages', () => {
  test.each(FILES)('the language of %s is known', path => {
    expect(lexerFor(path)).not.toBeNull();
  });

  test.each(['x.unknown', 'README', 'LICENSE', '__proto__', 'constructor', 'dir.rs/plain', ''])(
    'the language of %j is unknown',
    path => expect(lexerFor(path)).toBeNull(),
  );
});

describe('lexers', () => {
  const rolesIn = (path: string, text: string) =>
    Object.fromEntries(
      (lexerFor(path)?.(text) ?? []).flatMap(({ text: piece, role }) =>
        role === null ? [] : [[piece, role]],
      ),
    );

  test.each([
    [
      'x.ts',
      'const n: string = "a"; // why',
      { const: 'keyword', string: 'type', '"a"': 'string', '// why': 'comment' },
    ],
    [
      'x.rs',
      'fn main() { let x = 42; }',
      { fn: 'keyword', main: 'function', let: 'keyword', '42': 'number' },
    ],
    ['x.py', 'class A:\n  """why"""', { class: 'keyword', A: 'type', '"""why"""': 'string' }],
    ['x.json', '{"a": 1}', { '"a"': 'name', '1': 'number' }],
    ['x.xml', '<a href="x">', { a: 'keyword', href: 'name', '"x"': 'string' }],
  ])('%s: %s', (path, text, roles) => {
    expect(rolesIn(path, text)).toMatchObject(roles);
  });

  test('tokens join to the text, for any text', () => {
    const code = fc.array(
      fc.oneof(
        fc.constantFrom('/*', '"', '`${', '<a ', '\n', '//', '#', 'x', ' ', '😀'),
        fc.string({ unit: anyCodePoint, maxLength: 3 }),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...FILES), code, (path, pieces) => {
        const text = pieces.join('');
        const tokens = lexerFor(path)?.(text) ?? [];
        expect(tokens.map(token => token.text).join('')).toBe(text);
      }),
      { numRuns: 20 },
    );
  });
});

describe('Highlighter', () => {
  function rowsOf(body: string): Rows {
    const parsed = parsePatch(`--- x\n+++ x\n@@ -1,99 +1,99 @@\n${body}`);
    const rows = parsed.ok ? parsed.diff.files[0]?.hunks[0]?.rows : undefined;
    if (!rows) throw new Error('it is not a diff');
    return rows;
  }

  /** A lexer for which each text is one keyword, and what it was given. */
  function fakeLexer() {
    const texts: string[] = [];
    const highlighter = new Highlighter(path =>
      path === 'x.unknown'
        ? null
        : text => {
            texts.push(text);
            return [{ text, role: 'keyword' }];
          },
    );
    return { texts, highlighter };
  }

  describe('tokens of a row', () => {
    test('depend on the rows before it, in its own version of the file', () => {
      const rows = rowsOf(' /*\n-*/ let a\n+let b\n */\n');
      const highlighter = new Highlighter(lexerFor);
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

    test('are null in an unknown language', () => {
      const { highlighter, texts } = fakeLexer();
      expect(highlighter.tokensOf('x.unknown', rowsOf('+let b\n'), 0)).toBeNull();
      expect(texts).toEqual([]);
    });
  });

  describe('lexes as little as possible', () => {
    test('reads a little beyond the row, and only once', () => {
      const { highlighter, texts } = fakeLexer();
      const rows = rowsOf('+a\n'.repeat(1_000));
      expect(highlighter.tokensOf('x.js', rows, 10)).toEqual([{ text: 'a', role: 'keyword' }]);
      highlighter.tokensOf('x.js', rows, 20);
      expect(texts.map(text => text.length)).toEqual([127, 0].toReversed());
      highlighter.tokensOf('x.js', rows, 100);
      expect(Math.max(...texts.map(text => text.length))).toBe(255);
    });

    test('skips very long rows and very long hunks', () => {
      const { highlighter } = fakeLexer();
      const rows = rowsOf(`+${'x'.repeat(1_001)}\n+b\n`);
      expect(highlighter.tokensOf('x.js', rows, 0)).toBeNull();
      expect(highlighter.tokensOf('x.js', rows, 1)).toEqual([{ text: 'b', role: 'keyword' }]);
      expect(highlighter.tokensOf('x.js', rowsOf('+a\n'.repeat(2_001)), 0)).toBeNull();
    });
  });

  describe('time limits', () => {
    test('stops a grammar that does not terminate, and does not call it again', () => {
      let calls = 0;
      const highlighter = new Highlighter(() => () => {
        calls++;
        for (;;);
      });
      expect(highlighter.tokensOf('x.js', rowsOf('+a\n'), 0)).toBeNull();
      const first = calls; // on a busy machine, more than one
      for (let hunk = 0; hunk < 20; hunk++)
        expect(highlighter.tokensOf('x.js', rowsOf('+a\n'), 0)).toBeNull();
      expect(calls).toBe(first);
    });

    test('stops a real grammar that takes too long', async () => {
      const rows = rowsOf(`+${'def '.repeat(225)}\n`.repeat(50));
      await expectCpuBelow(2_000, () => new Highlighter(lexerFor).tokensOf('x.ino', rows, 49));
    });

    test('returns null if the grammar throws', () => {
      const highlighter = new Highlighter(() => () => {
        throw new Error('broken');
      });
      expect(highlighter.tokensOf('x.js', rowsOf('+a\n'), 0)).toBeNull();
    });
  });
});

function drawingOf(path: string): Drawing {
  const patch = `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-let a\n+let b\n`;
  const { chosen } = chooseSegment([{ type: 'diff', content: { path, patch } }], knownTypes);
  if (!chosen) throw new Error('there is nothing to draw');
  return chosen.drawing;
}

describe('loadHighlighter', () => {
  test.each([
    ['nothing', []],
    ['text', [{ kind: 'text', text: 'let a' } as const]],
  ])('returns null for %s', async (_, drawings) => {
    expect(await loadHighlighter(drawings)).toBeNull();
  });

  test('returns a highlighter if any drawing contains code', async () => {
    const code = drawingOf('x.ts');
    const highlighter = await loadHighlighter([{ kind: 'text', text: 'a' }, code]);
    const rows = code.kind === 'diff' ? code.diff.files[0]?.hunks[0]?.rows : undefined;
    expect(rows && highlighter?.tokensOf('x.ts', rows, 0)).toContainEqual({ text: 'let', role: 'keyword' });
  });
});
