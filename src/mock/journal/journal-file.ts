import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { Content } from '../../events/content.js';
import type { Event, Turn } from '../../events/events.js';
import type { GroupKeeper } from '../../events/log.js';
import { endsCall } from '../../protocol/callbacks.js';
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
  placeNew,
  removeLeftDrafts,
  unwritable,
} from '../../system/files.js';
import { errnoOf, ProtocolCliError } from '../../util/errors.js';
import { LineSplitter } from '../../util/text.js';
import { typeOf } from '../outbox.js';
import {
  checkedLine,
  JOURNAL_FORMAT,
  JournalReader,
  type Recovered,
  type Recovery,
  unreadableJournal,
} from './recovery.js';

export interface JournalOptions {
  readonly path: string;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly program: string;
  /** Waits for the disk: survives a power failure, not only a kill, at about half the throughput. */
  readonly sync?: boolean;
  /** Default: node:fs. */
  readonly files?: Files;
}

/** Keeps every event in a file, so that what was acknowledged survives a kill: `log.keep(journal)`. */
export interface Journal extends GroupKeeper {
  /** The first failure to write, even if later writes succeeded: then the process must not end with 0. */
  readonly failure: Error | null;
  /** The next run does not remember counts and states of one key, or all of them and the calls that are over. */
  reset(key?: string): void;
  /** Writes what is left, and releases the file; later events are not kept. See `failure`. */
  close(): Promise<void>;
}

/**
 * Opens a journal and returns what earlier runs left. Calls that are over are removed from the file first, in one step (threats, rows
 * 26 and 27), so that it does not grow for ever.
 * @throws ProtocolCliError `unreadable-file` if it is not a journal or another process writes it; `unwritable-file`.
 */
export async function openJournal(
  options: JournalOptions,
): Promise<{ readonly journal: Journal; readonly recovery: Recovery }> {
  const { path, files = fs, sync = false } = options;
  const release = await takeLock(path);
  try {
    const recovery = await readJournal(path, files);
    await rewrite(recovery, options, files);
    const file = await openToAppend(path, files);
    const { size: position } = await file.stat();
    const writer = new GroupWriter({ path, file, position, sync });
    return { journal: new DurableJournal(writer, () => file.close().finally(release)), recovery };
  } catch (error) {
    await release();
    throw error;
  }
}

class DurableJournal implements Journal {
  readonly #lines = new EventLines();
  #isClosed = false;

  constructor(
    private readonly writer: GroupWriter,
    private readonly release: () => Promise<void>,
  ) {}

  get failure(): Error | null {
    return this.writer.failure;
  }

  /** Events of an earlier run are in the file already. */
  take(event: Event): void {
    if (!this.#isClosed && !event.earlier) this.writer.add(this.#lines.of(event));
  }

  kept(): Promise<void> {
    return this.writer.kept();
  }

  reset(key?: string): void {
    if (!this.#isClosed) this.writer.add(checkedLine({ kind: 'reset', ...(key !== undefined && { key }) }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.writer.kept().catch(() => {}); // see `failure`
    await this.release();
  }
}

/** Turns events into lines: a body once, and from then on only its digest. */
class EventLines {
  readonly #written = new WeakSet<Content>();

  of(event: Event): string {
    if (!('body' in event) || event.body === undefined) return checkedLine(event);
    const { sha256, size } = event.body;
    return this.#bodyOnce(event.body) + checkedLine({ ...event, body: { sha256, size } });
  }

  #bodyOnce(body: Content): string {
    if (this.#written.has(body)) return '';
    this.#written.add(body);
    const { buffer, byteOffset, length } = body.bytes;
    const encoding = isUtf8(body.bytes) ? 'utf8' : 'base64';
    const data = Buffer.from(buffer, byteOffset, length).toString(encoding);
    return checkedLine({ kind: 'body', sha256: body.sha256, encoding, data });
  }
}

async function rewrite(recovery: Recovery, options: JournalOptions, files: Files): Promise<void> {
  const file = await createPrivateFile(options.path, files);
  try {
    for (const line of compacted(recovery, options)) await file.write(line.slice(0, -1));
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}

/** The lines that a journal begins with: what earlier runs left, without calls that are over. Read again they give the same recovery. */
export function* compacted(
  { calls, matched, settled }: Recovery,
  { startedAt, program }: Pick<JournalOptions, 'startedAt' | 'program'>,
): Generator<string> {
  yield checkedLine({ kind: 'header', format: JOURNAL_FORMAT, startedAt, program });
  for (const one of settled) yield checkedLine({ kind: 'settled', ...one });
  const lines = new EventLines();
  for (const call of calls) for (const event of eventsOf(call)) yield lines.of(event);
  for (const fact of matched) yield checkedLine(fact); // after the calls: their order is that of the states
  yield checkedLine({ kind: 'begun' });
}

/** The events of an open call, so that reading them gives the same call. */
function* eventsOf(call: Recovered): Generator<Event> {
  const { key, thread, invocation, headers, matched, refusal, rendered, turn, cancelReason } = call;
  const about = { calls: [key], thread, seq: 0, at: 0 }; // position and time of an earlier run are never read
  const request = { kind: 'request', method: 'POST', attempt: 1, ...about } as const;
  const called = { from: 'runtime', to: 'tool', purpose: 'invocation', url: '', leg: 'received' } as const;
  yield { ...request, ...called, headers: { ...headers }, body: invocation };
  if (refusal !== null) yield { kind: 'warned', message: refusal, ...about };
  if (matched) yield matched;
  const lost = (type: string, of: Turn): Event => ({
    ...{ kind: 'planned', by: 'fault', plan: 'drop', type, turn: of },
    ...about,
  });
  const isResultLost = call.isAnswered && !rendered.some(({ body }) => endsCall(typeOf(body)));
  if (isResultLost) yield lost('tool_result', { index: 0, next: [0] });
  for (const [index, { url, body, contentType, turn: of }] of rendered.entries()) {
    const sent = { from: 'tool', to: 'runtime', purpose: 'callback', leg: `posted${index}` } as const;
    yield { ...request, ...sent, url, headers: { 'content-type': contentType }, body, turn: of };
  }
  for (const [index, { state }] of rendered.entries()) {
    // once all are known: one alone may end its call
    const leg = `posted${index}`;
    if (state === 'delivered') yield { kind: 'response', leg, status: 200, headers: {}, ...about };
    if (state === 'dropped') yield { kind: 'dropped', leg, what: 'callback', why: '', count: 1, ...about };
  }
  if (turn && rendered.at(-1)?.turn.index !== turn.index) yield lost('view_update', turn);
  if (cancelReason !== null)
    yield { kind: 'decided', what: 'cancel', by: 'policy', value: cancelReason, ...about };
}

/** A callback of 64 MiB, escaped at its worst, still fits. */
const LONGEST_LINE = 480 * 1024 * 1024;

const CHUNK = 256 * 1024;

/**
 * Reads as a stream what earlier runs left; empty without a file.
 * @throws ProtocolCliError `unreadable-file` with file and line if it is not a journal; the file is left unchanged.
 */
async function readJournal(path: string, files: Files): Promise<Recovery> {
  const reader = new JournalReader(path);
  const file = await openPlainFile(path, files);
  if (!file) return reader.recovery(0);
  try {
    const splitter = new LineSplitter(LONGEST_LINE, bytes => reader.take(bytes));
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, null);
      if (bytesRead === 0) return reader.recovery(splitter.rest);
      if (!splitter.add(buffer.subarray(0, bytesRead)))
        throw unreadableJournal(reader.place, `the next line is longer than ${LONGEST_LINE} bytes`);
    }
  } finally {
    await file.close();
  }
}

/** Null without a file. No link is followed, and nothing that blocks is opened (threats, row 26). */
async function openPlainFile(path: string, files: Files): Promise<FileHandle | null> {
  try {
    const there = await files.lstat(path);
    if (!there.isFile())
      throw new Error(there.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a file');
    return await files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw unreadableJournal(path, error instanceof Error ? error.message : String(error));
  }
}

/** The identity of a process. A file of another kind that has the name of a lock is never touched. */
const IDENTITY = /^[1-9]\d{0,9} \d*$/;

/**
 * Takes the journal for this process alone, by a file beside it that names the process. The lock of a process that is gone is taken
 * over at once: after a kill the next run must not wait.
 * @returns how to release it.
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

/** Returns false if the lock exists. The file appears with its content, so no reader sees half of it. */
async function claimLock(lock: string, own: string): Promise<boolean> {
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

/** Empty if the lock is gone by now. */
async function readHolder(lock: string): Promise<string> {
  try {
    const file = await open(lock, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await file.readFile('latin1').finally(() => file.close());
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw unwritable(lock, error);
  }
}

/** Another process may do the same: only what was read is removed, and a newer lock is put back. */
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
