import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import type { Event } from '../../events/events.js';
import type { EventStore } from '../../events/log.js';
import {
  createPrivateFile,
  draftBeside,
  type Files,
  GroupWriter,
  isAlive,
  NEW_AND_NOT_A_LINK,
  OWNER_ONLY,
  openToAppend,
  ownIdentity,
  removeLeftDrafts,
  writeError,
} from '../../system/files.js';
import { errnoOf, messageOf, ProtocolCliError } from '../../util/errors.js';
import { LineSplitter } from '../../util/text.js';
import { JournalLines, JournalReader, type Recovery } from './recovery.js';

export interface JournalOptions {
  readonly path: string;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly program: string;
  /** Waits for the disk (fsync): survives a power failure too, at about half the throughput. */
  readonly sync?: boolean;
  readonly files?: Files;
}

/**
 * Opens a journal and returns the state of earlier runs. Finished calls are removed from the file first, atomically (threats, rows 26
 * and 27), so that it does not grow forever.
 * @throws ProtocolCliError `unreadable-file` if it is not a journal or another process writes it; `unwritable-file`.
 */
export async function openJournal(
  options: JournalOptions,
): Promise<{ readonly journal: Journal; readonly recovery: Recovery }> {
  const { path, files = fs, sync = false } = options;
  const release = await takeLock(path);
  try {
    const recovery = await readJournal(path, files);
    const lines = new JournalLines();
    await rewrite(lines.rewritten(recovery, options), path, files);
    const file = await openToAppend(path, files);
    const { size: position } = await file.stat();
    const writer = new GroupWriter({ path, file, position, sync });
    return { journal: new Journal(writer, lines, () => file.close().finally(release)), recovery };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Keeps every event in a file, so that acknowledged calls survive a kill: `log.keep(journal)`. */
export class Journal implements EventStore {
  #isClosed = false;

  constructor(
    private readonly writer: GroupWriter,
    private readonly lines: JournalLines,
    private readonly release: () => Promise<void>,
  ) {}

  /** The first write error, even if later writes succeeded; the process must then not exit with 0. */
  get failure(): Error | null {
    return this.writer.failure;
  }

  /** Skips events of an earlier run: the file contains them already. */
  take(event: Event): void {
    if (!this.#isClosed && !event.earlier) this.writer.add(this.lines.event(event));
  }

  stored(): Promise<void> {
    return this.writer.written();
  }

  reset(key?: string): void {
    if (!this.#isClosed) this.writer.add(this.lines.reset(key));
  }

  /** Writes pending lines and releases the file; later events are not kept. See `failure`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.writer.written().catch(() => {}); // reported by `failure`
    await this.release();
  }
}

async function rewrite(lines: Iterable<string>, path: string, files: Files): Promise<void> {
  const file = await createPrivateFile(path, { files });
  try {
    for (const line of lines) await file.write(line.slice(0, -1));
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}

/** Large enough for a callback of 64 MiB in which every character is escaped. */
const MAX_LINE = 480 * 1024 * 1024;

const CHUNK = 256 * 1024;

/**
 * Reads the state of earlier runs as a stream; empty without a file.
 * @throws ProtocolCliError `unreadable-file` with file and line if it is not a journal; the file is left unchanged.
 */
async function readJournal(path: string, files: Files): Promise<Recovery> {
  const reader = new JournalReader(path);
  const file = await openPlainFile(path, files).catch(error => {
    throw reader.unreadable(messageOf(error));
  });
  if (!file) return reader.recovery(0);
  try {
    const splitter = new LineSplitter(MAX_LINE, bytes => reader.take(bytes));
    for await (const chunk of file.createReadStream({ highWaterMark: CHUNK, autoClose: false }))
      if (!splitter.add(chunk)) throw reader.unreadable(`the next line is longer than ${MAX_LINE} bytes`);
    return reader.recovery(splitter.rest);
  } finally {
    await file.close();
  }
}

/** Returns null without a file. Does not follow links or open files that block (threats, row 26). */
async function openPlainFile(path: string, files: Files): Promise<FileHandle | null> {
  try {
    const there = await files.lstat(path);
    if (!there.isFile())
      throw new Error(there.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a file');
    return await files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Identifies a process in a lock file. A file without this content is never removed, even if it has the name of a lock. */
const IDENTITY = /^[1-9]\d{0,9} \d*$/;

/**
 * Locks the journal with a file beside it that contains the process id. Replaces the lock of a dead process at once: after a kill the
 * next run must not wait.
 * @returns a function that releases the lock.
 * @throws ProtocolCliError `unreadable-file` if another process holds it, `unwritable-file`.
 */
async function takeLock(path: string): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  const own = await ownIdentity();
  if (!(await claimLock(lock, own))) {
    const holder = await readHolder(lock);
    if (!IDENTITY.test(holder) || (await isAlive(holder))) throw lockTaken(path, lock, holder);
    await clearLock(lock, holder);
    if (!(await claimLock(lock, own))) throw lockTaken(path, lock, await readHolder(lock));
  }
  await removeLeftDrafts(lock);
  return () => rm(lock, { force: true });
}

/** Returns false if the lock exists. */
async function claimLock(lock: string, own: string): Promise<boolean> {
  try {
    await writeFile(lock, own, { flag: NEW_AND_NOT_A_LINK, mode: OWNER_ONLY });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw writeError(lock, error);
  }
}

/** Returns an empty string if the lock is gone. */
async function readHolder(lock: string): Promise<string> {
  try {
    const file = await open(lock, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await file.readFile('latin1').finally(() => file.close());
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw writeError(lock, error);
  }
}

/** Removes a stale lock. Another process may do the same, so a newer lock is put back. */
async function clearLock(lock: string, holder: string): Promise<void> {
  const aside = await draftBeside(lock);
  await rename(lock, aside).catch(() => {});
  if ((await readHolder(aside)) === holder) await rm(aside, { force: true });
  else await rename(aside, lock).catch(() => {});
}

function lockTaken(path: string, lock: string, holder: string): ProtocolCliError {
  const who = IDENTITY.test(holder)
    ? `process ${holder.split(' ')[0]} is writing this journal`
    : `${lock} exists but is not a lock of this program`;
  return new ProtocolCliError('unreadable-file', `${path}: ${who}`, {
    hint: `Stop it, or give another path. If no process uses it, delete ${lock}.`,
  });
}
