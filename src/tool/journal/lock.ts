import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { ProtocolCliError } from '../../errors.js';
import { draftBeside, isAlive, ownIdentity, removeLeftDrafts } from '../../system/drafts.js';
import { errnoOf } from '../../system/errno.js';
import { NEW_AND_NOT_A_LINK, OWNER_ONLY } from '../../system/files.js';
import { placeNew } from '../../system/place-new.js';
import { unwritable } from '../../system/private-file.js';

/** A pid, and when that process began. Another file that happens to have the name is never touched. */
const OURS = /^[1-9]\d{0,9} \d*$/;

/**
 * Makes a file this process's alone, by a file beside it that names us. One that a killed process left behind is taken over.
 * @returns how to let go.
 * @throws ProtocolCliError `unreadable-file` where another process that is alive has it, `unwritable-file`.
 */
export async function takeLock(path: string): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  const own = await ownIdentity();
  if (!(await claim(lock, own))) {
    const holder = await readHolder(lock);
    if (!OURS.test(holder) || (await isAlive(holder))) throw taken(path, lock, holder);
    await clear(lock, holder);
    if (!(await claim(lock, own))) throw taken(path, lock, await readHolder(lock));
  }
  await removeLeftDrafts(lock);
  return () => rm(lock, { force: true });
}

/** False where somebody has it. It comes into its place with what it says: nobody ever reads half of it. */
async function claim(lock: string, own: string): Promise<boolean> {
  const draft = await draftBeside(lock);
  try {
    const file = await open(draft, NEW_AND_NOT_A_LINK, OWNER_ONLY);
    await file.appendFile(own).finally(() => file.close());
    await placeNew(draft, lock);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw unwritable(lock, error);
  } finally {
    await rm(draft, { force: true });
  }
}

/** What the lock says; nothing where it is gone by now. */
async function readHolder(lock: string): Promise<string> {
  try {
    const file = await open(lock, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await file.readFile('latin1').finally(() => file.close());
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw unwritable(lock, error);
  }
}

/** Another process may be doing the same: only what was read is cleared, and what came meanwhile is put back. */
async function clear(lock: string, holder: string): Promise<void> {
  const aside = await draftBeside(lock);
  await rename(lock, aside).catch(() => {});
  if ((await readHolder(aside)) === holder) await rm(aside, { force: true });
  else await rename(aside, lock).catch(() => {});
}

function taken(path: string, lock: string, holder: string): ProtocolCliError {
  const who = OURS.test(holder)
    ? `process ${holder.split(' ')[0]} is writing this journal`
    : `${lock} is in the way`;
  return new ProtocolCliError('unreadable-file', `${path}: ${who}`, {
    hint: `Stop it, or give another path. If nobody needs it any more, delete ${lock}.`,
  });
}
