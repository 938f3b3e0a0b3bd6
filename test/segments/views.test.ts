import { expect, test } from 'vitest';
import { totalsOf } from '../../src/segments/diff.js';
import { readView } from '../../src/segments/segments.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

test('RT-VIEW: draws a diff like a segment of the same type', () => {
  const reading = readView({ type: 'diff', content: { patch: PATCH } });
  if (!reading.ok || reading.drawing.kind !== 'diff') throw new Error('it is not drawn as a diff');
  expect(reading.drawing.diff.files.map(({ newPath, added, removed }) => [newPath, added, removed])).toEqual([
    ['a.txt', 1, 1],
  ]);
});

test('RT-VIEW: draws files with their old and new contents as a diff', () => {
  const reading = readView({
    type: 'diff',
    content: {
      files: [
        { path: 'src/a.ts', status: 'modified', oldContents: 'one\ntwo\n', newContents: 'one\n2\n' },
        { path: 'new.md', status: 'added', oldContents: '', newContents: 'a\nb' },
        { path: 'old.md', status: 'deleted', oldContents: 'gone\n', newContents: null },
        { path: 'same', status: 'modified', oldContents: 'x', newContents: 'x' },
      ],
    },
  });
  if (!reading.ok || reading.drawing.kind !== 'diff') throw new Error('it is not drawn as a diff');
  expect(
    reading.drawing.diff.files.map(({ newPath, kind, added, removed }) => [newPath, kind, added, removed]),
  ).toEqual([
    ['src/a.ts', 'changed', 1, 1],
    ['new.md', 'created', 2, 0],
    ['old.md', 'deleted', 0, 1],
    ['same', 'unchanged', 0, 0],
  ]);
  expect(totalsOf(reading.drawing.diff)).toEqual({ added: 3, removed: 2 });
});

test('a path cannot add lines to the diff', () => {
  const path = 'a\n@@ -1 +1 @@\n-x\n+\u001b[2J';
  const reading = readView({
    type: 'diff',
    content: { files: [{ path, status: 'modified', oldContents: 'a\n', newContents: 'b\n' }] },
  });
  if (!reading.ok || reading.drawing.kind !== 'diff') throw new Error('it is not drawn as a diff');
  const { files } = reading.drawing.diff;
  expect(files).toHaveLength(1);
  expect(files[0]).toMatchObject({ newPath: path, added: 1, removed: 1, hidden: { count: 1 } });
});

test('draws many unrelated files within the time limit', async () => {
  const text = (sign: string) => Array.from({ length: 2_000 }, (_, line) => `${sign}${line}\n`).join('');
  const files = Array.from({ length: 50 }, (_, index) => ({
    path: `${index}`,
    status: 'modified',
    oldContents: text('a'),
    newContents: text('b'),
  }));
  await expectCpuBelow(3_000, () => expect(readView({ type: 'diff', content: { files } }).ok).toBe(true));
});
