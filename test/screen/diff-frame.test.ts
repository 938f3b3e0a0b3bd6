import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { parsePatch } from '../../src/display/diff.js';
import { loadHighlighter } from '../../src/display/syntax.js';
import type { Pane } from '../../src/render/panes.js';
import { createTheme } from '../../src/render/terminal/theme.js';
import { frameOf } from '../../src/tui/live/frame.js';
import { anyCodePoint } from '../support/characters.js';
import { settledScene } from './support/scenes.js';

const THEME = createTheme(2);

function paneOf(patch: string): Pane {
  const parsed = parsePatch(patch);
  if (!parsed.ok) throw new Error(parsed.reason);
  const drawing = { kind: 'diff', path: '', diff: parsed.diff, raw: patch } as const;
  return { title: 'human', about: 'diff', notes: [], drawing };
}

const row = fc
  .tuple(
    fc.constantFrom('-', '+', ' '),
    fc.array(
      fc.oneof(
        fc.constantFrom('const ', '漢字', '"', '/*', '\t', '\u202e', 'x'.repeat(200)),
        fc.string({ unit: anyCodePoint, maxLength: 5 }),
      ),
      { maxLength: 5 },
    ),
  )
  .map(([sign, parts]) => `${sign}${parts.join('').replaceAll('\n', '')}\n`);
const patches = fc
  .array(row, { minLength: 1, maxLength: 30 })
  .map(rows => `--- a/x.ts\n+++ b/x.ts\n@@ -1,99 +1,99 @@\n${rows.join('')}`);

test('a frame with a diff is never wider than the terminal, nor higher, whatever stands in it', async () => {
  const highlighter = await loadHighlighter([paneOf('--- x.ts\n+++ x.ts\n@@ -1 +1 @@\n-a\n+b\n').drawing]);
  const sizes = fc.record({
    columns: fc.integer({ min: 40, max: 300 }),
    rows: fc.integer({ min: 8, max: 70 }),
  });
  fc.assert(
    fc.property(patches, sizes, (patch, size) => {
      const scene = settledScene('', 'sent');
      if (!scene.panes) throw new Error('there are no panes');
      const panes = { ...scene.panes, human: paneOf(patch) };
      const frame = frameOf({ ...scene, panes, highlighter }, size, THEME);
      expect(frame.panes?.human.length).toBeLessThan(size.rows);
      for (const each of frame.panes?.human ?? [])
        expect(stringWidth(each)).toBeLessThanOrEqual(frame.panes?.width ?? 0);
    }),
    { numRuns: 60 },
  );
});
