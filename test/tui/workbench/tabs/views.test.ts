import { expect, test } from 'vitest';
import { call, eventsOf, KEY } from '../../../events/build.js';
import { view } from '../../../render/stories.js';
import { read } from '../../read-sheet.js';
import { bookOf, LOOK, sheetsFor } from './look-at.js';

const PATCH = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n';

test('RT-VIEW: each view of the thread as it is now', () => {
  const book = bookOf(call(), view('v1', PATCH), view('v2', PATCH.replace('new', 'newer')));
  const { parts } = sheetsFor().sheetOf('views', book, KEY, LOOK);
  expect(parts.map(({ pane }) => pane?.title)).toEqual(['view']);
  const [[title, ...lines] = []] = read({ parts });
  expect(title).toBe('VIEW diff, updated 2 times');
  expect(lines.join('\n')).toMatch(/old[\s\S]*newer/);
});

test('it is the same one until a view of the thread is another', () => {
  const sheets = sheetsFor();
  const book = bookOf(call(), view('v1', PATCH));
  const sheet = () => sheets.sheetOf('views', book, KEY, LOOK);
  const before = sheet();
  expect(sheet()).toBe(before);
  for (const event of eventsOf(view('v2', PATCH))) book.apply(event);
  expect(sheet()).not.toBe(before);
});
