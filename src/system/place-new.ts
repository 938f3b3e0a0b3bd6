import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from './errno.js';
import { type Files, NEW_AND_NOT_A_LINK, OWNER_ONLY } from './files.js';

/** What a disk says that knows no second name for a file, such as that of a camera or of a shared folder. */
const LINKLESS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Gives a file that is whole its place, where nothing is: in one step, since between a look and a rename something else may come to be
 * there, and be lost (threats, row 27).
 * @param draft beside the place; gone afterwards
 * @throws `EEXIST` where something is there
 */
export async function placeNew(draft: string, path: string, files: Files = fs): Promise<void> {
  try {
    await files.link(draft, path);
  } catch (error) {
    if (!LINKLESS.includes(errnoOf(error))) throw error;
    return placeOverOwn(draft, path, files);
  }
  await files.rm(draft, { force: true });
}

/** As {@link placeNew}; an empty file is as good as none. */
export async function placeFree(draft: string, path: string, files: Files = fs): Promise<void> {
  try {
    await placeNew(draft, path, files);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !(await takeEmptyAway(path, files))) throw error;
    await placeNew(draft, path, files);
  }
}

/** What is replaced is an empty file that this very call has made, and nobody else. */
async function placeOverOwn(draft: string, path: string, files: Files): Promise<void> {
  await (await files.open(path, NEW_AND_NOT_A_LINK, OWNER_ONLY)).close();
  try {
    await files.rename(draft, path);
  } catch (error) {
    await files.rm(path, { force: true });
    throw error;
  }
}

/** What was written in it meanwhile goes back. */
async function takeEmptyAway(path: string, files: Files): Promise<boolean> {
  if (!(await isEmptyFile(path, files))) return false;
  const aside = join(dirname(path), `.${randomUUID()}.tmp`);
  await files.rename(path, aside);
  const isEmpty = await isEmptyFile(aside, files);
  await (isEmpty ? files.rm(aside, { force: true }) : placeNew(aside, path, files));
  return isEmpty;
}

async function isEmptyFile(path: string, files: Files): Promise<boolean> {
  const there = await files.lstat(path);
  return there.isFile() && there.size === 0;
}
