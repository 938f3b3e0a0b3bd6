import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { rowsOf } from '../../../src/commands/render/rows.js';
import { linesSection, type Section } from '../../../src/commands/render/saved.js';
import { quote } from '../../../src/render/line.js';
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

describe('sections', () => {
  test('stand one below the other, a blank row between those that are not empty', () => {
    const sections = [
      linesSection([]),
      linesSection([quote('a')]),
      linesSection([]),
      linesSection([quote('b')]),
    ];
    expect(rows(sections)).toEqual(['a', '', 'b']);
    expect(rows([])).toEqual([]);
  });

  test('may be a single pane', () => {
    expect(rows([{ kind: 'pane', pane: pane('view', 'a') }])).toEqual(['VIEW text', 'a']);
  });
});

describe('both panes', () => {
  test('stand one below the other where there is no room', () => {
    expect(rows([panes('a', 'b')], 119)).toEqual(['HUMAN text', 'a', '', 'LLM text', 'b']);
  });

  test('stand side by side from 120 columns on', () => {
    const gap = ' '.repeat(3);
    expect(rows([panes('a\nb\nc', 'd')], 120)).toEqual([
      `${'HUMAN text'.padEnd(58)}${gap}LLM text`,
      `${'a'.padEnd(58)}${gap}d`,
      'b',
      'c',
    ]);
    expect(rows([panes('a', 'b\nc')], 120).at(-1)).toBe(`${' '.repeat(58)}${gap}c`);
  });

  test('are whole, however long', () => {
    const long = Array.from({ length: 5_000 }, (_, line) => `line ${line}`).join('\n');
    expect(rows([panes(long, long)], 80)).toHaveLength(10_003);
    expect(rows([panes(long, 'short')], 160)).toHaveLength(5_001);
  });
});

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
