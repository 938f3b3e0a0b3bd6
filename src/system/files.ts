import { createHash, randomUUID } from 'node:crypto';
import { constants, rmSync, type Stats, writeSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, win32 } from 'node:path';
import pRetry from 'p-retry';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { nearest } from '../util/text.js';
import { beforeAnyEnd } from './process.js';

/** The parts of node:fs in use, so that tests can make each call fail. */
export type Files = Pick<typeof fs, 'link' | 'lstat' | 'open' | 'rename'>;

export const OWNER_ONLY = 0o600;

const EVERYBODY_MAY_READ = 0o644;

/** Open flags that fail if anything exists at the path, even a dangling link (threats, row 26). */
export const NEW_AND_NOT_A_LINK =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

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

async function createFile(
  path: string,
  mode: number,
  { replaces = () => true, files = fs }: Placing = {},
): Promise<PrivateFile> {
  if (isHiddenStream(path)) throw writeError(path, new Error('on Windows a name cannot have a colon'));
  await removeLeftDrafts(path);
  const draft = await draftBeside(path);
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

/**
 * Opens an existing file for appending; does not follow a link (threats, row 26).
 * @throws ProtocolCliError `unwritable-file`.
 */
export function openToAppend(path: string, files: Pick<Files, 'open'> = fs): Promise<fs.FileHandle> {
  return withWriteErrors(path, () => files.open(path, constants.O_WRONLY | constants.O_NOFOLLOW));
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

async function withWriteErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof ProtocolCliError ? cause : writeError(path, cause);
  }
}

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
  const names = errnoOf(cause) === 'ENOENT' ? await fs.readdir(dirname(path)).catch(() => []) : [];
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

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'Create its folder first.',
  ENOSPC: 'The disk is full: free some space, or write elsewhere.',
};

interface GroupWriterOptions {
  readonly path: string;
  readonly file: fs.FileHandle;
  readonly position: number;
}

/** Appends text to a file; everything added during one write is written by the next one. */
export class GroupWriter {
  #position: number;
  #queued = '';
  /** What is being written at the position. */
  #writing: Uint8Array = new Uint8Array(0);
  #next: Promise<void> | null = null;
  #current: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isLossy = false;
  #failure: Error | null = null;

  constructor(private readonly options: GroupWriterOptions) {
    this.#position = options.position;
  }

  /** The first failure, even if a later write succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  add(text: string): void {
    this.#isLossy ||= this.#isFailing && this.#queued.length > LIMITS.outputChars.value;
    if (this.#isLossy) return; // the file would have a gap
    this.#queued += text;
    void this.written();
  }

  /** Resolves when everything added is written; rejects if that failed. A new call tries again. */
  written(): Promise<void> {
    if (this.#queued === '') return this.#current;
    if (!this.#next) {
      const write = () => this.#write();
      this.#next = this.#current.then(write, write);
      this.#next.catch(() => {}); // callers that need the result use `written`
    }
    return this.#next;
  }

  /** Writes what is left, before a forced end of this process: bytes on their way are written again, to the same place. */
  finishSync(): void {
    const left = Buffer.concat([this.#writing, Buffer.from(this.#queued)]);
    for (let done = 0; done < left.length; )
      done += writeSync(this.options.file.fd, left, done, left.length - done, this.#position + done);
  }

  async #write(): Promise<void> {
    this.#current = this.#next ?? this.#current;
    this.#next = null;
    const bytes = Buffer.from(this.#queued);
    this.#queued = '';
    this.#writing = bytes;
    try {
      await this.#append(bytes);
      this.#position += bytes.length;
      this.#isFailing = false;
    } catch (cause) {
      this.#isFailing = true;
      this.#queued = bytes.toString() + this.#queued; // is written first, at the same offset
      const failure = writeError(this.options.path, cause);
      this.#failure ??= failure;
      throw failure;
    } finally {
      this.#writing = new Uint8Array(0);
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { file } = this.options;
    if (this.#isLossy) throw new Error('too much could not be written');
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, this.#position + done)).bytesWritten;
  }
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

/**
 * A path for a temporary file beside `path`. Its name contains the file and the process, so that {@link removeLeftDrafts} finds the
 * files of killed processes.
 */
export async function draftBeside(path: string): Promise<string> {
  const [pid, born] = (await ownIdentity()).split(' ');
  return join(dirname(path), `${prefixFor(path)}${pid}-${born}-${randomUUID()}.tmp`);
}

/** Removes the temporary files for `path` whose processes are gone, if possible. */
export async function removeLeftDrafts(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = prefixFor(path);
  const names = await fs.readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid, born] = (name.startsWith(prefix) && MAKER.exec(name.slice(prefix.length))) || [];
    if (pid !== undefined && !(await isAlive(`${pid} ${born}`)))
      await fs.rm(join(folder, name), { force: true }).catch(() => {});
  }
}

const MAKER = /^([1-9]\d{0,9})-(\d*)-[\da-f-]{36}\.tmp$/;

/** Contains the host: in a folder shared by several containers, their pids are unrelated. */
function prefixFor(path: string): string {
  const digest = createHash('sha256')
    .update(`${hostname()}\0${basename(path)}`)
    .digest('hex');
  return `.${digest.slice(0, 12)}-`;
}

/** This process as pid and start time. A pid alone is not unique: containers often reuse the same one. */
export async function ownIdentity(): Promise<string> {
  return `${process.pid} ${await bornAt(process.pid)}`;
}

/** Whether the process of an {@link ownIdentity} is still running. */
export async function isAlive(identity: string): Promise<boolean> {
  const [pid = '', born = ''] = identity.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') return false;
  }
  return born === (await bornAt(Number(pid)));
}

/** The start time of a process in ticks since boot; empty for a zombie and without `/proc`. */
async function bornAt(pid: number): Promise<string> {
  const stat = await fs.readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? '' : (fields[19] ?? '');
}
