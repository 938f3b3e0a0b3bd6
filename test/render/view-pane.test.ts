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

test('what cannot be drawn is shown as it came, with the reason', () => {
  const { notes, drawing } = view({ patch: 7 });
  expect(notes).toEqual([expect.stringContaining('malformed diff')]);
  expect(drawing).toEqual({ kind: 'text', text: '{\n  "patch": 7\n}' });
});

test('threats, row 24: characters that no one would see are reported', () => {
  expect(view({ patch: 'n\u202eo diff' }).notes).toEqual([
    expect.stringContaining('malformed diff'),
    '1 control or invisible character shown',
  ]);
});
