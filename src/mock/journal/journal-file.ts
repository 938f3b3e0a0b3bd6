import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { Content } from '../../events/content.js';
import type { Event, Turn } from '../../events/events.js';
import type { GroupKeeper } from '../../events/log.js';
import { validate } from '../../protocol/validate.js';
import { draftBeside, isAlive, ownIdentity, removeLeftDrafts } from '../../system/drafts.js';
import { errnoOf } from '../../system/errno.js';
import {
  createPrivateFile,
  type Files,
  GroupWriter,
  NEW_AND_NOT_A_LINK,
  OWNER_ONLY,
  openToAppend,
  placeNew,
  unwritable,
} from '../../system/files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt } from '../../util/excerpt.js';
import { readJson } from '../../util/json.js';
import { LineSplitter } from '../../util/strings.js';
import { typeOf } from '../send-callback.js';
import {
  checkedLine,
  type DamagedLine,
  Fold,
  isIntact,
  isLast,
  JOURNAL_FORMAT,
  type JournalLine,
  journalLineSchema,
  type Recovered,
  type Recovery,
  type Rendered,
} from './recovery.js';

/** Turns events into the lines of a journal: a body once, and from then on only its digest. */
class JournalWriter {
  readonly #written = new WeakSet<Content>();

  /** With a line feed after each line. */
  event(event: Event): string {
    if (!('body' in event) || event.body === undefined) return checkedLine(event);
    const { body } = event;
    const { sha256, size } = body;
    return this.#bodyOnce(body) + checkedLine({ ...event, body: { sha256, size } });
  }

  #bodyOnce(body: Content): string {
    if (this.#written.has(body)) return '';
    this.#written.add(body);
    const encoding = isUtf8(body.bytes) ? 'utf8' : 'base64';
    const { buffer, byteOffset, length } = body.bytes;
    const data = Buffer.from(buffer, byteOffset, length).toString(encoding);
    return checkedLine({ kind: 'body', sha256: body.sha256, encoding, data });
  }
}

/** Who writes the file, and since when (RFC 3339, UTC). */
interface Writing {
  readonly startedAt: string;
  readonly program: string;
}

/** The lines a journal begins with: what the runs before left, and nothing that is over. Read again they give the same recovery. */
export function* compacted(
  { calls, matched, settled }: Recovery,
  { startedAt, program }: Writing,
): Generator<string> {
  yield checkedLine({ kind: 'header', format: JOURNAL_FORMAT, startedAt, program });
  for (const one of settled) yield checkedLine({ kind: 'settled', ...one });
  const writer = new JournalWriter();
  for (const call of calls) yield* callLines(call, writer);
  for (const fact of matched) yield checkedLine(fact); // after the calls: their order is that of the states
  yield checkedLine({ kind: 'begun' });
}

/** Position and time in an earlier run; never read. */
const STAMP = { seq: 0, at: 0 };

interface About {
  readonly calls: string[];
  readonly thread: string;
  readonly seq: number;
  readonly at: number;
}

type OfLeg = About & { readonly leg: string };

function* callLines(call: Recovered, writer: JournalWriter): Generator<string> {
  const { key, thread, invocation, headers, matched, refusal, rendered, turn, isAnswered, cancelReason } =
    call;
  const about = { calls: [key], thread, ...STAMP };
  yield writer.event({
    kind: 'request',
    leg: 'received',
    from: 'runtime',
    to: 'tool',
    purpose: 'invocation',
    method: 'POST',
    url: '',
    headers: { ...headers },
    attempt: 1,
    body: invocation,
    ...about,
  });
  if (refusal !== null) yield checkedLine({ kind: 'warned', message: refusal, ...about });
  if (matched) yield checkedLine(matched);
  const posted = rendered.map((one, index) => ({ one, about: { ...about, leg: `posted${index}` } }));
  const isResultLost = isAnswered && !rendered.some(({ body }) => isLast(typeOf(body)));
  if (isResultLost) yield lost('tool_result', { index: 0, next: [0] }, about);
  for (const { one, about } of posted) yield requestLines(one, about, writer);
  for (const { one, about } of posted) yield* fateLine(one, about); // once all are known: one alone may end its call
  if (turn && rendered.at(-1)?.turn.index !== turn.index) yield lost('view_update', turn, about);
  if (cancelReason !== null)
    yield checkedLine({ kind: 'decided', what: 'cancel', by: 'policy', value: cancelReason, ...about });
}

/** A message that was not posted, and never will be. */
function lost(type: string, turn: Turn, about: About): string {
  return checkedLine({ kind: 'planned', by: 'fault', plan: 'drop', type, turn, ...about });
}

function requestLines(one: Rendered, about: OfLeg, writer: JournalWriter): string {
  const { url, body, contentType, turn } = one;
  const headers = { 'content-type': contentType };
  const wire = { from: 'tool', to: 'runtime', purpose: 'callback', method: 'POST' } as const;
  return writer.event({ kind: 'request', ...wire, url, headers, attempt: 1, body, turn, ...about });
}

function* fateLine({ state }: Rendered, about: OfLeg): Generator<string> {
  if (state === 'delivered') yield checkedLine({ kind: 'response', status: 200, headers: {}, ...about });
  if (state === 'dropped')
    yield checkedLine({ kind: 'dropped', what: 'callback', why: '', count: 1, ...about });
}

/** A callback of 64 MiB, escaped at its worst, still fits. */
const LONGEST_LINE = 480 * 1024 * 1024;
const CHUNK = 256 * 1024;
const NOTHING: Recovery = { calls: [], matched: [], settled: [], tornBytes: 0, damaged: [] };

/**
 * Reads as a stream what earlier runs left; empty without a file. An incomplete last line, as after a crash, and damaged
 * lines are skipped.
 * @throws ProtocolCliError `unreadable-file` with file and line if it is not a journal; the file is left unchanged.
 */
async function readJournal(path: string, files: Files): Promise<Recovery> {
  const file = await openPlain(path, files);
  if (!file) return NOTHING;
  try {
    return await readAll(path, file);
  } finally {
    await file.close();
  }
}

async function readAll(path: string, file: FileHandle): Promise<Recovery> {
  const fold = new Fold();
  const damaged: DamagedLine[] = [];
  let number = 0;
  let isChecked = true;
  const take = (bytes: Uint8Array) => {
    const place = `${path}:${++number}`;
    const line = readLine(bytes);
    if (number === 1) isChecked = formatOf(line, place) === JOURNAL_FORMAT;
    if (!line.ok || (isChecked && !isIntact(bytes))) damaged.push({ number, held: heldBy(bytes) });
    else if (number > 1 && line.value.kind === 'header') throw unreadable(place, MISPLACED);
    else fold.take(line.value);
  };
  const splitter = new LineSplitter(LONGEST_LINE, take);
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, null);
    if (bytesRead === 0) break;
    if (!splitter.add(buffer.subarray(0, bytesRead))) throw unreadable(`${path}:${number + 1}`, TOO_LONG);
  }
  if (number === 0 && splitter.rest > 0) throw unreadable(path, FOREIGN);
  return fold.recovery(splitter.rest, damaged);
}

const FOREIGN = 'the first line is not the header of a journal';
const MISPLACED = 'unexpected second header';
const TOO_LONG = `a line is longer than ${LONGEST_LINE} bytes`;

/** @throws where the first line is not the header of a journal */
function formatOf(line: ReadLine, place: string): string {
  if (!line.ok) throw unreadable(place, line.problem);
  if (line.value.kind !== 'header') throw unreadable(place, FOREIGN);
  return line.value.format;
}

type ReadLine =
  | { readonly ok: true; readonly value: JournalLine }
  | { readonly ok: false; readonly problem: string };

function readLine(bytes: Uint8Array): ReadLine {
  const json = readJson(bytes);
  if (!json.ok) return { ok: false, problem: json.reason };
  const line = validate(journalLineSchema, json.value);
  return line.ok ? line : { ok: false, problem: line.faults.join('; ') };
}

/** Enough for the members by which a line is described. */
const DESCRIBED_BYTES = 64 * 1024;
/** Members of a line, or of the message in it, where quotes are escaped. Nothing else is quoted: a journal holds secrets. */
const NAMES = ['kind', 'purpose', 'type', 'operation', 'group_id', 'id'] as const;

/** What a damaged line held, as far as it can be read. */
function heldBy(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, DESCRIBED_BYTES)).toString('utf8');
  const found = NAMES.flatMap(name => {
    const [, value] = new RegExp(`\\\\?"${name}\\\\?"\\s*:\\s*\\\\?"([^"\\\\]{1,80})`).exec(text) ?? [];
    return value === undefined ? [] : [`${name} ${excerpt(value)}`];
  });
  return `${bytes.length} bytes${found.map(each => `, ${each}`).join('')}`;
}

/** Null where nothing is there. No link is followed, and nothing that blocks is opened (threats, row 26). */
async function openPlain(path: string, files: Files): Promise<FileHandle | null> {
  try {
    const there = await files.lstat(path);
    if (!there.isFile())
      throw new Error(there.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a file');
    return await files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw unreadable(path, error instanceof Error ? error.message : String(error));
  }
}

function unreadable(place: string, problem: string): ProtocolCliError {
  return new ProtocolCliError('unreadable-file', `${place}: cannot read this journal: ${problem}`, {
    hint: 'Move the file away to begin a new journal, or give another path.',
  });
}

/** A pid, and when that process began. Another file that happens to have the name is never touched. */
const OURS = /^[1-9]\d{0,9} \d*$/;

/**
 * Makes a file this process's alone, by a file beside it that names us. One that a killed process left behind is taken over.
 * @returns how to let go.
 * @throws ProtocolCliError `unreadable-file` where another process that is alive has it, `unwritable-file`.
 */
async function takeLock(path: string): Promise<() => Promise<void>> {
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

/** Returns false if the lock exists. The lock file appears with its content, so no reader sees half of it. */
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
    : `${lock} exists but is not a lock of this program`;
  return new ProtocolCliError('unreadable-file', `${path}: ${who}`, {
    hint: `Stop it, or give another path. If no process uses it, delete ${lock}.`,
  });
}

export interface JournalOptions extends Writing {
  readonly path: string;
  /** Waits for the disk, too: then it survives a power failure, not only a kill, at about half the throughput. */
  readonly sync?: boolean;
  /** Default: node:fs. */
  readonly files?: Files;
}

/** Keeps every event in a file, so that what was acknowledged survives a kill: `log.keep(journal)`. */
export interface Journal extends GroupKeeper {
  /** The first failure to write, were it only for a while: then the process must not end with 0. */
  readonly failure: Error | null;
  /** The next run does not remember: counts and states of one key, or all of them and the calls that are over. */
  reset(key?: string): void;
  /** Writes what is left, and lets others have the file; what comes later is not kept. What cannot be written is in `failure`. */
  close(): Promise<void>;
}

/**
 * Opens a journal and says what the runs before left. What is over is taken out of the file first, in one step (threats, rows 26 and 27),
 * so that it does not grow for ever.
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
    const close = async () => {
      await writer.kept().catch(() => {}); // `failure` says it
      await file.close().finally(release);
    };
    return { journal: new DurableJournal(writer, close), recovery };
  } catch (error) {
    await release();
    throw error;
  }
}

class DurableJournal implements Journal {
  readonly #lines = new JournalWriter();
  #isClosed = false;

  constructor(
    private readonly writer: GroupWriter,
    private readonly release: () => Promise<void>,
  ) {}

  get failure(): Error | null {
    return this.writer.failure;
  }

  /** What an earlier run said is there already. */
  take(event: Event): void {
    if (this.#isClosed || event.earlier) return;
    this.writer.add(this.#lines.event(event));
  }

  kept(): Promise<void> {
    return this.writer.kept();
  }

  reset(key?: string): void {
    if (!this.#isClosed) this.writer.add(checkedLine({ kind: 'reset', ...(key !== undefined && { key }) }));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.release();
  }
}

async function rewrite(recovery: Recovery, options: JournalOptions, files: Files): Promise<void> {
  const file = await createPrivateFile(options.path, files);
  try {
    for (const text of compacted(recovery, options)) await file.write(text.slice(0, -1));
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}
