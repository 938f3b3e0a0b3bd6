import { expect, test } from 'vitest';
import { paneLines } from '../../src/render/pane-lines.js';
import type { Pane } from '../../src/render/panes.js';
import { words } from '../support/words.js';

const pane: Pane = {
  title: 'llm',
  about: 'text, 5 bytes',
  notes: ['a note'],
  drawing: { kind: 'text', text: 'a\nb\nc' },
};

test('its heading, its notes, its drawing', () => {
  const { lines, total } = paneLines(pane, { count: Number.POSITIVE_INFINITY });
  expect(lines.map(words)).toEqual(['LLM text, 5 bytes', 'a note', 'a', 'b', 'c']);
  expect(total).toBe(5);
});

test('no more of the drawing than asked for; the total counts all', () => {
  const { lines, total } = paneLines({ ...pane, title: 'human', notes: [] }, { count: 2 });
  expect(lines.map(words)).toEqual(['HUMAN text, 5 bytes', 'a', 'b']);
  expect(total).toBe(4);
});

test('its drawing from where it is wanted; its heading stays', () => {
  const { lines, total } = paneLines({ ...pane, notes: [] }, { from: 1, count: 1 });
  expect(lines.map(words)).toEqual(['LLM text, 5 bytes', 'b']);
  expect(total).toBe(4);
});
