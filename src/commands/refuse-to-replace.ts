import { lstat } from 'node:fs/promises';
import { ProtocolCliError } from '../errors.js';

/**
 * What somebody may still want is not written over: nothing, or an empty file, is in the place of what is to be written. Said before the
 * work; what comes to be there meanwhile is spared by whoever writes, too.
 * @param option that names the file, as `--save`
 * @throws ProtocolCliError `usage`.
 */
export async function refuseToReplace(path: string, option: string): Promise<void> {
  const there = await lstat(path).catch(() => null); // what else is wrong with it, whoever writes it says
  if (!there?.isSymbolicLink() && !(there?.isFile() && there.size > 0)) return;
  throw new ProtocolCliError('usage', `${option} would write over ${path}, which is there already`, {
    hint: 'Give another name, or remove it first.',
  });
}
