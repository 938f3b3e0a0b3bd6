import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ProtocolCliError } from '../../errors.js';
import { validate } from '../../protocol/validate.js';
import { errnoOf } from '../../system/errno.js';
import type { Files } from '../../system/files.js';
import { excerpt } from '../../text/excerpt.js';
import { readJson } from '../../text/json.js';
import { LineSplitter } from '../../text/line-splitter.js';
import { Fold } from './fold.js';
import { isIntact, JOURNAL_FORMAT, type JournalLine, journalLineSchema } from './journal-format.js';
import type { DamagedLine, Recovery } from './recovery.js';

/** A callback of 64 MiB, escaped at its worst, still fits. */
const LONGEST_LINE = 480 * 1024 * 1024;
const CHUNK = 256 * 1024;
const NOTHING: Recovery = { calls: [], matched: [], settled: [], tornBytes: 0, damaged: [] };

/**
 * What the runs before left, read as a stream; nothing where there is no file. A last line that was cut off by a crash is
 * passed over, and so is a damaged one.
 * @throws ProtocolCliError `unreadable-file` with file and line where it is no journal of ours; it is left as it is.
 */
export async function readJournal(path: string, files: Files): Promise<Recovery> {
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

const FOREIGN = 'it does not begin as a journal does';
const MISPLACED = 'a journal has one header';
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
  return new ProtocolCliError('unreadable-file', `${place}: this journal cannot be read: ${problem}`, {
    hint: 'Move the file away to begin a new journal, or give another path.',
  });
}
