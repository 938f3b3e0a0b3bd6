import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createTheme } from '../../src/render/terminal/theme.js';
import { paneLayout } from '../../src/render/terminal/wrap.js';
import type { Frame } from '../../src/tui/live/model.js';
import { frameOf } from '../../src/tui/live/reporter.js';
import { anyCodePoint } from '../support/characters.js';
import type { Size } from './support/emulator.js';
import { askingScene, question, settledScene } from './support/scenes.js';

const THEME = createTheme(2);
const anySize = fc.record({
  columns: fc.integer({ min: 40, max: 220 }),
  rows: fc.integer({ min: 8, max: 70 }),
});
/** Wide characters, marks without width, joined emoji, controls, lines without end. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCodePoint, maxLength: 60 }),
      fc.constantFrom('\n', '\t', '漢字', '👩‍👩‍👧', 'e\u0301', '\u202e', '\u001b[2J', 'x'.repeat(300)),
    ),
    { maxLength: 60 },
  )
  .map(parts => parts.join(''));

describe('a frame', () => {
  test('is never wider than the terminal and always one row lower, whatever the tool sends', () => {
    fc.assert(
      fc.property(anyText, anyText, anySize, (human, llm, size) => {
        const frame = frameOf(settledScene(human, llm), size, THEME);
        if (!frame.panes) throw new Error('there are no panes');
        expectFits(frame, size);
        const { human: left, llm: right, width } = frame.panes;
        for (const row of [...left, ...right]) expect(stringWidth(row)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 60 },
    );
  });

  test('the same while a tool asks, beside views; the choices are always visible', () => {
    const anyChoices = fc.array(anyText, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        anyText,
        anyChoices,
        fc.array(anyText, { maxLength: 3 }),
        anySize,
        (prompt, labels, views, size) => {
          const frame = frameOf(askingScene(question(prompt, labels), views), size, THEME);
          expectFits(frame, size);
          expect(frame.picker.some(row => stripVTControlCharacters(row).startsWith('❯ '))).toBe(true);
          expect(frame.steps.at(-1)).toBe('subscribed: 3 events');
        },
      ),
      { numRuns: 60 },
    );
  });

  test('shows only what fits if the terminal is very small', () => {
    const asking = { ...settledScene('seen\nseen', 'sent'), ...askingScene(question('Which?', ['a', 'b'])) };
    for (let rows = 1; rows < 12; rows++)
      expectFits(frameOf(asking, { columns: 20, rows }, THEME), { columns: 20, rows });
  });
});

function rowsOf({ steps, views, panes, picker }: Frame, { columns }: Size): readonly string[] {
  const { human = [], llm = [], isSideBySide = false } = panes ?? {};
  const both = isSideBySide ? [paneLayout(columns).beside(human, llm)] : [human, llm];
  return [steps, views, ...both, picker]
    .filter(block => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

function expectFits(frame: Frame, size: Size): void {
  expect(rowsOf(frame, size).length).toBeLessThanOrEqual(size.rows - 1);
  for (const row of [...frame.steps, ...frame.views, ...frame.picker])
    expect(stringWidth(row)).toBeLessThanOrEqual(size.columns);
}
