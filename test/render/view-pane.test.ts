import { expect, test } from 'vitest';
import { viewPane } from '../../src/render/panes.js';

const view = (content: Readonly<Record<string, unknown>>, updates = 1) =>
  viewPane({ type: 'diff', content, updates });
const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

test('RT-VIEW: a view is a pane of its own, which says of what type it is', () => {
  expect(view({ patch: PATCH })).toMatchObject({
    title: 'view',
    about: expect.stringMatching(/^diff, /),
    notes: [],
    drawing: { kind: 'diff' },
  });
});

test('says how many states it has had', () => {
  expect(view({ patch: PATCH }).about).toBe('diff, updated once');
  expect(view({ patch: PATCH }, 3).about).toBe('diff, updated 3 times');
});

test('what cannot be drawn is shown as it came, with the reason', () => {
  const { notes, drawing } = view({ patch: 7 });
  expect(notes).toEqual([expect.stringContaining('malformed diff')]);
  expect(drawing).toEqual({ kind: 'text', text: '{\n  "patch": 7\n}' });
});

test('wrong counts are reported', () => {
  expect(view({ patch: PATCH.replace('-1 +1', '-1,9 +1,9') }).notes).toEqual([
    expect.stringContaining('corrected'),
  ]);
});

test('threats, row 24: characters that no one would see are reported', () => {
  expect(view({ patch: 'n\u202eo diff' }).notes).toEqual([
    expect.stringContaining('malformed diff'),
    '1 control or invisible character shown',
  ]);
});

test('a type that is not known is shown as it came', () => {
  const { about, notes } = viewPane({ type: 'progress', content: { done: 1 }, updates: 2 });
  expect(about).toBe('progress, updated 2 times');
  expect(notes).toEqual(['unknown view type "progress", shown as JSON']);
});
