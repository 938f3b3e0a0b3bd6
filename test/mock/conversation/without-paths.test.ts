import { expect, test } from 'vitest';
import { withoutPaths } from '../../../src/mock/intake.js';

test.each([
  ["ENOENT: no such file, open '/home/me/.ssh/nothing'", "ENOENT: no such file, open '…/nothing'"],
  ["open '/home/me/My Files/a b.txt'", "open '…/a b.txt'"],
  ["rename '/a/b' -> '/a/c'", "rename '…/b' -> '…/c'"],
  ['cannot find file:///srv/app/x.js', 'cannot find …/x.js'],
  ['in C:\\Users\\me\\x.txt at 3', 'in …/x.txt at 3'],
  ['(/srv/app/x.js:3:4)', '(…/x.js:3:4)'],
])('TOOL-NOLEAK: %s', (message, clean) => {
  expect(withoutPaths(message)).toBe(clean);
});

test.each([
  'a and/or b',
  'GET http://127.0.0.1:3000/a/b/c answered 404',
  'http://[::1]/a/b',
  'src/a/b.ts has no end',
  'on 01/02/2025',
  '/invoke is busy',
])('nothing else: %s', message => {
  expect(withoutPaths(message)).toBe(message);
});
