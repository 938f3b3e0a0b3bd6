import { describe, expect, test } from 'vitest';
import { chooseSegment, type Drawing, knownTypes } from '../../../src/display/segments.js';
import { loadHighlighter } from '../../../src/display/syntax.js';

function drawingOf(path: string): Drawing {
  const patch = `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-let a\n+let b\n`;
  const { chosen } = chooseSegment([{ type: 'diff', content: { path, patch } }], knownTypes);
  if (!chosen) throw new Error('there is nothing to draw');
  return chosen.drawing;
}

describe('a highlighter is loaded', () => {
  test.each([
    ['nothing', []],
    ['text', [{ kind: 'text', text: 'let a' } as const]],
    ['a diff of a file in no known language', [drawingOf('LICENSE')]],
  ])('not for %s', async (_, drawings) => {
    expect(await loadHighlighter(drawings)).toBeNull();
  });

  test('for code, wherever it is among what is drawn', async () => {
    const code = drawingOf('x.ts');
    const highlighter = await loadHighlighter([{ kind: 'text', text: 'a' }, code]);
    const rows = code.kind === 'diff' ? code.diff.files[0]?.hunks[0]?.rows : undefined;
    expect(rows && highlighter?.tokensOf('x.ts', rows, 0)).toContainEqual({ text: 'let', role: 'keyword' });
  });
});
