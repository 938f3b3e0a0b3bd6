import { expect, test } from 'vitest';
import { dividedPath, fullPath } from '../../../src/commands/workbench/typed-path.js';

test.each([
  ['linux', 'runs/a', 'runs/', 'a'],
  ['linux', 'a\\b', '', 'a\\b'],
  ['linux', 'runs/', 'runs/', ''],
  ['linux', '', '', ''],
  ['win32', 'runs\\a', 'runs\\', 'a'],
  ['win32', 'C:\\runs/a', 'C:\\runs/', 'a'],
  ['win32', 'C:\\', 'C:\\', ''],
] as const)('on %s "%s" is the folder "%s" and the name "%s"', (platform, typed, folder, name) => {
  expect(dividedPath(typed, platform)).toEqual({ folder, name });
});

test.each([
  ['linux', 'a', '/work/a'],
  ['linux', '~/a', '/home/me/a'],
  ['linux', '~', '/home/me'],
  ['linux', '~me', '/work/~me'],
  ['linux', '/a/../b', '/b'],
  ['linux', '~\\a', '/work/~\\a'],
  ['win32', 'a\\b', 'C:\\work\\a\\b'],
  ['win32', '~\\a', 'C:\\Users\\me\\a'],
  ['win32', '~/a', 'C:\\Users\\me\\a'],
  ['win32', 'D:\\a', 'D:\\a'],
  ['win32', 'D:/a', 'D:\\a'],
] as const)('on %s "%s" is %s', (platform, typed, full) => {
  const folders =
    platform === 'win32' ? { cwd: 'C:\\work', home: 'C:\\Users\\me' } : { cwd: '/work', home: '/home/me' };
  expect(fullPath(typed, folders, platform)).toBe(full);
});
