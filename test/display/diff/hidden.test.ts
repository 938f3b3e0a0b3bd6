import { expect, test } from 'vitest';
import { hiddenIn, parsePatch } from '../../../src/display/diff.js';

test.each([
  ['nothing hidden\n\t', 0, []],
  ['\u001b[2J\u202e', 2, ['␛', '<U+202E>']],
  ['\u200b\u200b\u200b', 3, ['<U+200B>']],
  ['\u0001\u0002\u0003\u0004', 4, ['␁', '␂', '␃']],
])('%j hides %d', (text, count, pictures) => {
  expect(hiddenIn(text)).toEqual({ count, pictures });
});

test('each file has its own count: of its name, its sections and its rows', () => {
  const file = (name: string, section: string, row: string) =>
    `--- ${name}\n+++ ${name}\n@@ -1 +1 @@ ${section}\n-a\n+${row}\n`;
  const parsed = parsePatch(file('x\u200b', 'f\u202e', 'b\u001b') + file('y', 'f', 'b'));
  expect(parsed.ok && parsed.diff.files.map(({ hidden }) => hidden.count)).toEqual([3, 0]);
});
