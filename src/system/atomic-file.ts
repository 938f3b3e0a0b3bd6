import { randomUUID } from 'node:crypto';
import { constants, rmSync, type Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { win32 } from 'node:path';
import pRetry from 'p-retry';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { newDraftPath } from './draft-path.js';
import { reasonOf, withWriteErrors, writeError } from './file-system-errors.js';
import { beforeAnyEnd } from './process.js';

/** The parts of node:fs in use, so that tests can make each call fail. */
export type Files = Pick<typeof fs, 'link' | 'lstat' | 'open' | 'rename'>;

const OWNER_ONLY = 0o600;

const EVERYBODY_MAY_READ = 0o644;

/** Open flags that fail if anything exists at the path, even a dangling link (threats, row 26). */
const NEW_AND_NOT_A_LINK = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

const BUFFERED = 64 * 1024;

/** A file that appears at its path as a whole, and that only its owner may read (threats, rows 26 and 27). */
export interface PrivateFile {
  /** Adds a line, without its line feed. Concurrent lines keep their order. */
  write(line: string): Promise<void>;
  /** Moves the file to its path, unless a file is there that may not be replaced. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

export interface Placing {
  /** Whether an existing file may be replaced. By default, any file and any planted link is. */
  readonly replaces?: (there: Stats) => boolean;
  readonly files?: Files;
}

export const isEmptyFile = (there: Stats): boolean => there.isFile() && there.size === 0;

/**
 * Starts a new file for `path`.
 * @throws ProtocolCliError `unwritable-file`, also from every method.
 */
export function createPrivateFile(path: string, how?: Placing): Promise<PrivateFile> {
  return createFile(path, OWNER_ONLY, how);
}

/**
 * Writes a file that other users may read, such as a report for CI: atomically, and never through a planted link (threats, rows 26 and
 * 27).
 * @param lines or a text that ends with a line feed
 * @throws ProtocolCliError `unwritable-file`.
 */
export async function writePublicFile(
  path: string,
  lines: string | Iterable<string>,
  how?: Placing,
): Promise<void> {
  const file = await createFile(path, EVERYBODY_MAY_READ, how);
  try {
    for (const line of typeof lines === 'string' ? [lines.replace(/\n$/, '')] : lines) await file.write(line);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

async function createFile(
  path: string,
  mode: number,
  { replaces = () => true, files = fs }: Placing = {},
): Promise<PrivateFile> {
  if (isHiddenStream(path)) throw writeError(path, new Error('on Windows a name cannot have a colon'));
  const draft = await newDraftPath(path);
  return withWriteErrors(path, async () => {
    const there = await files.lstat(path).catch(() => null);
    // A rename would destroy a device such as `/dev/null`; a link is only replaced.
    if (there && !there.isFile() && !there.isSymbolicLink())
      throw new Error('something that is not a file is there');
    if (there && !replaces(there)) throw takenError(path);
    return new Draft(path, draft, await files.open(draft, NEW_AND_NOT_A_LINK, mode), files, replaces);
  });
}

/** On Windows `run:1` is not a file, but a stream of the file `run` that no folder lists. */
export function isHiddenStream(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'win32' && win32.basename(path).includes(':');
}

/** Another program has the file open, such as a virus scanner of Windows; or the file is the mount point of a container. */
function isHeld(error: unknown): boolean {
  return ['EPERM', 'EACCES', 'EBUSY'].includes(errnoOf(error));
}

/** About a second. */
const HELD_BRIEFLY = { retries: 5, minTimeout: 30 };

class Draft implements PrivateFile {
  #buffer = '';
  #flushed = Promise.resolve();
  #isKept = false;
  readonly #forget: () => void;

  constructor(
    private readonly path: string,
    private readonly draft: string,
    private readonly handle: fs.FileHandle,
    private readonly files: Files,
    private readonly replaces: (there: Stats) => boolean,
  ) {
    this.#forget = beforeAnyEnd(() => this.#remove());
  }

  async write(line: string): Promise<void> {
    this.#buffer += `${line}\n`;
    if (this.#buffer.length >= BUFFERED) await withWriteErrors(this.path, () => this.#flush());
  }

  async commit(): Promise<void> {
    try {
      await withWriteErrors(this.path, () => this.#publish());
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    if (this.#isKept) return;
    this.#forget();
    await this.handle.close().catch(() => {});
    await withWriteErrors(this.path, async () => this.#remove());
  }

  #remove(): void {
    rmSync(this.draft, { force: true });
  }

  async #publish(): Promise<void> {
    await this.#flush();
    await this.handle.sync();
    await this.handle.close();
    await this.#place();
    this.#forget();
  }

  /** A link cannot replace a file, so of two programs that choose the same name only one gets it. Some disks have no links. */
  async #place(): Promise<void> {
    const isLinked = await this.files.link(this.draft, this.path).then(
      () => true,
      () => false,
    );
    if (isLinked) return this.#remove();
    const there = await this.files.lstat(this.path).catch(() => null);
    if (there && !this.replaces(there)) throw takenError(this.path);
    const rename = () => this.files.rename(this.draft, this.path);
    await pRetry(rename, { ...HELD_BRIEFLY, shouldRetry: ({ error }) => isHeld(error) }).catch(
      async error => {
        throw isHeld(error) ? await this.#keep(error) : error;
      },
    );
  }

  /** Keeps what was written beside its path. Returns the error, which names it. */
  async #keep(cause: unknown): Promise<ProtocolCliError> {
    this.#isKept = true;
    this.#forget();
    const kept = `${this.path}.${randomUUID().slice(0, 8)}`;
    const isMoved = await this.files.rename(this.draft, kept).then(
      () => true,
      () => false,
    );
    const message = `cannot write ${this.path}: ${reasonOf(cause)}`;
    const hint = `What was written is in ${isMoved ? kept : this.draft}.`;
    return new ProtocolCliError('unwritable-file', message, { hint, cause });
  }

  /** Writes sequentially; after a failure all later writes fail. */
  #flush(): Promise<void> {
    const text = this.#buffer;
    this.#buffer = '';
    this.#flushed = this.#flushed.then(() => this.handle.appendFile(text));
    return this.#flushed;
  }
}

function takenError(path: string): ProtocolCliError {
  const hint = 'Give another name, or remove it first.';
  return new ProtocolCliError('unwritable-file', `cannot write ${path}: file already exists`, { hint });
}
