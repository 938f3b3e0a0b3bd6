import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Where a path that is typed begins. */
export interface Whereabouts {
  readonly cwd: string;
  readonly home: string;
}

/** Names of a folder that are looked at. */
const MOST = 10_000;

/** The path that is meant: `~` before a slash is the home folder, as in a shell. */
export function pathOf(typed: string, { cwd, home }: Whereabouts): string {
  return resolve(cwd, /^~(?:\/|$)/.test(typed) ? `${home}${typed.slice(1)}` : typed);
}

/**
 * What a path that begins so may be, in order: folders end in a slash, and a hidden name is meant only where its dot is typed.
 * None where nothing can be read.
 */
export async function pathsFrom(typed: string, where: Whereabouts): Promise<readonly string[]> {
  if (typed === '~') return ['~/'];
  const slash = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, slash);
  const start = typed.slice(slash);
  const entries = await readdir(pathOf(folder, where), { withFileTypes: true }).catch(() => []);
  const meant = entries.slice(0, MOST).filter(({ name }) => isMeant(name, start));
  const names = await Promise.all(meant.map(nameIn));
  return names.map(name => `${folder}${name}`).sort();
}

/** What nobody can type is no path here. */
function isMeant(name: string, start: string): boolean {
  return name.startsWith(start) && name.startsWith('.') === start.startsWith('.') && !/\p{Cc}/u.test(name);
}

async function nameIn(entry: Dirent): Promise<string> {
  const isFolder = entry.isSymbolicLink() ? await leadsToFolder(entry) : entry.isDirectory();
  return isFolder ? `${entry.name}/` : entry.name;
}

async function leadsToFolder({ parentPath, name }: Dirent): Promise<boolean> {
  const there = await stat(join(parentPath, name)).catch(() => null);
  return there?.isDirectory() ?? false;
}
