import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { rowsOf } from '../../../src/commands/render/rows.js';
import type { Section } from '../../../src/commands/render/saved.js';
import type { Pane } from '../../../src/render/panes.js';
import { createTheme } from '../../../src/render/terminal/theme.js';

const pane = (title: Pane['title'], text: string): Pane => ({
  title,
  about: 'text',
  notes: [],
  drawing: { kind: 'text', text },
});
const panes = (human: string, llm: string): Section => ({
  kind: 'panes',
  human: pane('human', human),
  llm: pane('llm', llm),
});
const rows = (sections: readonly Section[], width = 80) => [
  ...rowsOf(sections, { width, theme: createTheme(0) }),
];

test('the first row is there before the last is thought of', () => {
  const endless = pane('human', 'line\n'.repeat(3_000_000));
  const [first] = rowsOf([{ kind: 'panes', human: endless, llm: endless }], {
    width: 160,
    theme: createTheme(0),
  });
  expect(first).toMatch(/^HUMAN text +LLM|^HUMAN text/);
});

test('no row is wider than told', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '漢', '👍', '\n', '\t', '\u001b'),
    maxLength: 300,
  });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 20, max: 200 }), (human, llm, width) => {
      for (const row of rows([panes(human, llm)], width)) expect(stringWidth(row)).toBeLessThanOrEqual(width);
    }),
    { numRuns: 60 },
  );
});
