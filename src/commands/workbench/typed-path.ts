import { posix, win32 } from 'node:path';

/** Where a typed path begins: relative paths in `cwd`, and `~` as in a shell. */
interface Folders {
  readonly cwd: string;
  readonly home: string;
}

/** Divides a typed path after its last separator: what is before it is a folder. On Windows `\` separates too. */
export function dividedPath(
  typed: string,
  platform: NodeJS.Platform,
): { readonly folder: string; readonly name: string } {
  const separator = platform === 'win32' ? /[/\\]/ : /\//;
  const name = typed.split(separator).at(-1) ?? '';
  return { folder: typed.slice(0, typed.length - name.length), name };
}

/** The full path of a typed one. `~` before a separator is the home folder. */
export function fullPath(typed: string, { cwd, home }: Folders, platform: NodeJS.Platform): string {
  const isInHome = platform === 'win32' ? /^~(?:[/\\]|$)/ : /^~(?:\/|$)/;
  const { resolve } = platform === 'win32' ? win32 : posix;
  return resolve(cwd, isInHome.test(typed) ? `${home}${typed.slice(1)}` : typed);
}
