import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { nearest } from '../util/text.js';

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'Create its folder first.',
  ENOSPC: 'The disk is full: free some space, or write elsewhere.',
};

/** Creates the error of a failed write: the file, the reason, and what to do. */
export function writeError(path: string, cause: unknown): ProtocolCliError {
  const reason = reasonOf(cause);
  const hint = HINTS[errnoOf(cause)] ?? 'Give the path of a file in a folder that you may write to.';
  return new ProtocolCliError('unwritable-file', `cannot write ${path}: ${reason}`, { hint, cause });
}

/**
 * Creates the error of a failed read. If the file does not exist, the hint names a similar one in its folder.
 * @param what names the file in the message
 */
export async function readError(
  path: string,
  cause: unknown,
  hint: string,
  what = path,
): Promise<ProtocolCliError> {
  const reason = reasonOf(cause);
  const names = errnoOf(cause) === 'ENOENT' ? await readdir(dirname(path)).catch(() => []) : [];
  const name = basename(path);
  const [near] = nearest(name, names, Math.max(2, Math.floor(name.length / 4)));
  const suggestion = near === undefined ? hint : `Did you mean ${join(dirname(path), near)}?`;
  return new ProtocolCliError('unreadable-file', `cannot read ${what}: ${reason}`, {
    hint: suggestion,
    cause,
  });
}

/** A system error's message without its code, the call and its path, which may be that of a draft. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return errnoOf(cause) === '' ? cause.message : cause.message.replace(/^E[A-Z]+: |, \w+(?: '.*)?$/gs, '');
}

/** Runs work that writes `path`. @throws ProtocolCliError `unwritable-file` for each of its errors */
export async function withWriteErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof ProtocolCliError ? cause : writeError(path, cause);
  }
}
