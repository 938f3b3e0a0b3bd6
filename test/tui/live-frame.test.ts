import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { type Line, say } from '../../src/render/line.js';

import { paletteOf } from '../../src/render/terminal/theme.js';
import { type Frame, frameOf } from '../../src/tui/live/frame.js';
import { pickerLines } from '../../src/tui/picker.js';
import type { Size } from '../screen/support/emulator.js';
import { askingScene, question, settledScene } from '../screen/support/scenes.js';
import { anyCodePoint } from '../support/characters.js';
import { words } from '../support/words.js';

const LOOK = { palette: paletteOf(2), redact: String };
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
        const frame = frameOf(settledScene(human, llm), size, LOOK);
        if (!frame.panes) throw new Error('there are no panes');
        expectFits(frame, size);
        const { human: left, llm: right, width } = frame.panes;
        for (const row of [...left, ...right]) expect(stringWidth(words(row))).toBeLessThanOrEqual(width);
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
          const frame = frameOf(askingScene(question(prompt, labels), views), size, LOOK);
          expectFits(frame, size);
          expect(questionRows(frame).some(row => words(row).startsWith('❯ '))).toBe(true);
          expect(words(frame.steps.at(-1) ?? [])).toBe('subscribed: 3 events');
        },
      ),
      { numRuns: 60 },
    );
  });

  test('shows only what fits if the terminal is very small', () => {
    const asking = { ...settledScene('seen\nseen', 'sent'), ...askingScene(question('Which?', ['a', 'b'])) };
    for (let rows = 1; rows < 12; rows++)
      expectFits(frameOf(asking, { columns: 20, rows }, LOOK), { columns: 20, rows });
  });
});

test('threats, row 25: a secret is redacted before it is wrapped, also one of several spans', () => {
  const redact = (text: string) => text.replaceAll('my-secret-token', '[redacted]');
  const scene = {
    ...settledScene(`${'x'.repeat(34)}my-secret-token`, 'seen'),
    status: [[say('my-secret'), say('-token', 'bad')]],
  };
  const { steps, panes } = frameOf(scene, { columns: 40, rows: 24 }, { ...LOOK, redact });
  expect(words(steps.at(-1) ?? [])).toBe('[redacted]');
  expect(panes?.human.map(words).join('')).toContain(`${'x'.repeat(34)}[redacted]`);
});

function questionRows({ question: asked }: Frame): readonly Line[] {
  if (!asked) return [];
  const { lines, keys } = pickerLines(asked.picker, asked.size);
  return [...lines, keys].slice(0, asked.size.rows);
}

function rowsOf(frame: Frame): readonly Line[] {
  const { steps, views, panes } = frame;
  const { human = [], llm = [], isSideBySide = false } = panes ?? {};
  const both = isSideBySide ? [human.length > llm.length ? human : llm] : [human, llm];
  return [steps, views, ...both, questionRows(frame)]
    .filter(block => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : [[], ...block]));
}

function expectFits(frame: Frame, size: Size): void {
  expect(rowsOf(frame).length).toBeLessThanOrEqual(size.rows - 1);
  for (const row of [...frame.steps, ...frame.views, ...questionRows(frame)])
    expect(stringWidth(words(row))).toBeLessThanOrEqual(size.columns);
}
