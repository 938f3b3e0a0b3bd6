import { expect, test } from 'vitest';
import { parsePatch } from '../../../src/display/diff.js';

test('each file has its own count: of its name, its sections and its rows', () => {
  const file = (name: string, section: string, row: string) =>
    `--- ${name}\n+++ ${name}\n@@ -1 +1 @@ ${section}\n-a\n+${row}\n`;
  const parsed = parsePatch(file('x\u200b', 'f\u202e', 'b\u001b') + file('y', 'f', 'b'));
  expect(parsed.ok && parsed.diff.files.map(({ hidden }) => hidden.count)).toEqual([3, 0]);
});
