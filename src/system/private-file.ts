import { constants, rmSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { ProtocolCliError } from '../errors.js';
import { draftBeside, removeLeftDrafts } from './drafts.js';
import { errnoOf } from './errno.js';
import { type Files, NEW_AND_NOT_A_LINK, OWNER_ONLY } from './files.js';
import { beforeForcedEnd } from './forced-end.js';
import { placeFree } from './place-new.js';

const BUFFERED = 64 * 1024;

/** A file that others see either as it was or as it is in the end, and that only its owner may read (threats, rows 26 and 27). */
export interface PrivateFile {
  /** Adds a line, without its line feed. Lines given at the same time keep their order; a full buffer is awaited. */
  write(line: string): Promise<void>;
  /**
   * Puts the file in its place: what was there is replaced, a planted link included, unless told; then it fails where anything is but
   * an empty file.
   */
  commit(how?: Placing): Promise<void>;
  /** Leaves what was there as it was. */
  discard(): Promise<void>;
}

export interface Placing {
  readonly replaces: boolean;
}

/**
 * Starts a file beside `path`.
 * @throws ProtocolCliError `unwritable-file`, here and from every method.
 */
export function createPrivateFile(path: string, files: Files = fs): Promise<PrivateFile> {
  return createFile(path, OWNER_ONLY, files);
}

/** As {@link createPrivateFile}, for whoever `mode` says. */
export async function createFile(path: string, mode: number, files: Files = fs): Promise<PrivateFile> {
  await removeLeftDrafts(path);
  const draft = await draftBeside(path);
  return explaining(path, async () => {
    await refuseSpecial(path, files);
    return new Draft(path, draft, await files.open(draft, NEW_AND_NOT_A_LINK, mode), files);
  });
}

/**
 * Opens a file that is there, to go on writing in it; a link in its place is not followed (threats, row 26).
 * @throws ProtocolCliError `unwritable-file`.
 */
export function openToAppend(path: string, files: Pick<Files, 'open'> = fs): Promise<fs.FileHandle> {
  return explaining(path, () => files.open(path, constants.O_WRONLY | constants.O_NOFOLLOW));
}

class Draft implements PrivateFile {
  #buffer = '';
  #flushed = Promise.resolve();
  readonly #forget: () => void;

  constructor(
    private readonly path: string,
    private readonly draft: string,
    private readonly handle: fs.FileHandle,
    private readonly files: Files,
  ) {
    this.#forget = beforeForcedEnd(() => rmSync(draft, { force: true }));
  }

  async write(line: string): Promise<void> {
    this.#buffer += `${line}\n`;
    if (this.#buffer.length >= BUFFERED) await explaining(this.path, () => this.#flush());
  }

  async commit({ replaces }: Placing = { replaces: true }): Promise<void> {
    try {
      await explaining(this.path, () => this.#publish(replaces));
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    this.#forget();
    await this.handle.close().catch(() => {});
    await explaining(this.path, () => this.files.rm(this.draft, { force: true }));
  }

  async #publish(replaces: boolean): Promise<void> {
    await this.#flush();
    await this.handle.sync();
    await this.handle.close();
    if (replaces) await this.files.rename(this.draft, this.path);
    else await placeFree(this.draft, this.path, this.files);
    this.#forget();
  }

  /** One after the other; once one has failed, all that follow do. */
  #flush(): Promise<void> {
    const text = this.#buffer;
    this.#buffer = '';
    this.#flushed = this.#flushed.then(() => this.handle.appendFile(text));
    return this.#flushed;
  }
}

/** To be renamed over would cost a folder's place or a device (`/dev/null`) its existence; a link is only replaced. */
async function refuseSpecial(path: string, files: Files): Promise<void> {
  const there = await files.lstat(path).catch(() => null);
  if (there && !there.isFile() && !there.isSymbolicLink())
    throw new Error('something that is not a file is there');
}

async function explaining<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** Whether a commit that replaces nothing has failed since something is there. */
export function isTaken(error: unknown): boolean {
  return error instanceof ProtocolCliError && errnoOf(error.cause) === 'EEXIST';
}

/** A failure to write, in words: which file, why, and what to do. */
export function unwritable(path: string, cause: unknown): ProtocolCliError {
  const reason = cause instanceof Error ? withoutCall(cause) : String(cause);
  const hint = HINTS[errnoOf(cause)] ?? 'Give the path of a file in a folder that you may write to.';
  return new ProtocolCliError('unwritable-file', `cannot write ${path}: ${reason}`, { hint, cause });
}

/** A system's words, without the call and its path, which may be that of a draft. */
function withoutCall(error: Error): string {
  return errnoOf(error) === '' ? error.message : error.message.replace(/, \w+(?: '.*)?$/s, '');
}

const HINTS: Readonly<Record<string, string>> = {
  EEXIST: 'Give another name, or remove it first.',
  ENOENT: 'Create its folder first.',
  ENOSPC: 'The disk is full: free some space, or write elsewhere.',
};
