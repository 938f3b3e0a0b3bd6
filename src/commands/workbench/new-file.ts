import { lstat, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { ProtocolCliError } from '../../errors.js';
import { refuseToReplace } from '../refuse-to-replace.js';
import { pathOf, type Whereabouts } from './paths.js';

/** Names that are tried. */
const MOST = 1_000;

/** A file that is to be written. */
export interface NewFile {
  readonly path: string;
  /** As a person names it. */
  readonly name: string;
}

/**
 * The file that is meant. What ends in a slash is a folder: in it the file has the first free name like the one that is offered.
 * @throws ProtocolCliError `usage` where a file is there, or the folder is not.
 */
export async function newFile(typed: string, offered: string, where: Whereabouts): Promise<NewFile> {
  const name = typed.endsWith('/') ? await nameIn(typed, offered, where) : typed;
  const path = pathOf(name, where);
  await refuseToReplace(path, 'this');
  return { path, name };
}

async function nameIn(typed: string, offered: string, where: Whereabouts): Promise<string> {
  const folder = pathOf(typed, where);
  const there = await stat(folder).catch(() => null);
  if (!there?.isDirectory()) throw new ProtocolCliError('usage', `there is no folder ${typed}`);
  return `${typed}${await freeName(offered, folder)}`;
}

/** The first of `run.ndjson`, `run-2.ndjson` … that nothing in the folder has. Never rejects. */
export async function freeName(name: string, folder: string): Promise<string> {
  const { name: stem, ext } = parse(name);
  for (let nth = 1; nth <= MOST; nth++) {
    const candidate = nth === 1 ? name : `${stem}-${nth}${ext}`;
    const isFree = await lstat(join(folder, candidate)).then(
      () => false,
      () => true, // what else is wrong with it, whoever writes it says
    );
    if (isFree) return candidate;
  }
  return name;
}
