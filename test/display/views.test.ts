import { expect, test } from 'vitest';
import { readView } from '../../src/display/views.js';

const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

test('RT-VIEW: a diff is drawn as a segment of its type would be', () => {
  const reading = readView({ type: 'diff', content: { patch: PATCH } });
  if (!reading.ok || reading.drawing.kind !== 'diff') throw new Error('it is not drawn as a diff');
  expect(reading.drawing.diff.files.map(({ newPath, added, removed }) => [newPath, added, removed])).toEqual([
    ['a.txt', 1, 1],
  ]);
});

test('a patch that does not name its file takes the name beside it', () => {
  const reading = readView({ type: 'diff', content: { patch: '@@ -1 +1 @@\n-old\n+new\n', path: 'b.txt' } });
  expect(reading).toMatchObject({ ok: true, drawing: { path: 'b.txt' } });
});

test('what is wrong with wrong counts is said, and it is drawn', () => {
  const reading = readView({ type: 'diff', content: { patch: PATCH.replace('-1 +1', '-1,9 +1,9') } });
  expect(reading).toMatchObject({ ok: true, complaint: expect.stringContaining('recounted') });
});

test.each([
  ['no patch', { text: 'x' }],
  ['a patch that is no text', { patch: 7 }],
  ['a patch that is none', { patch: 'hello' }],
])('%s is malformed, with the reason', (_, content) => {
  expect(readView({ type: 'diff', content })).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/^malformed diff: ./),
  });
});

test('a type that is not known is not drawn', () => {
  const reading = readView({ type: 'holo\u202egram', content: {} });
  expect(reading).toEqual({ ok: false, reason: 'the view type "holo<U+202E>gram" is not known here' });
});
