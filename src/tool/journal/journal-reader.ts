import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ProtocolCliError } from '../../errors.js';
import { validate } from '../../protocol/validate.js';
import { errnoOf } from '../../system/errno.js';
import type { Files } from '../../system/files.js';
import { readJson } from '../../text/json.js';
import { LineSplitter } from '../../text/line-splitter.js';
import { Fold } from './fold.js';
import { type JournalLine, journalLineSchema } from './journal-format.js';
import type { Recovery } from './recovery.js';

/** A callback of 64 MiB, escaped at its worst, still fits. */
const LONGEST_LINE = 480 * 1024 * 1024;
const CHUNK = 256 * 1024;
const NOTHING: Recovery = { calls: [], matched: [], settled: [], tornBytes: 0 };

/**
 * What the runs before left, read as a stream; nothing where there is no file. A last line that was cut off by a crash is passed over.
 * @throws ProtocolCliError `unreadable-file` with file and line where it is no journal of ours, or is damaged; it is left as it is.
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
  let number = 0;
  const splitter = new LineSplitter(LONGEST_LINE, bytes => {
    const place = `${path}:${++number}`;
    const line = readLine(bytes, place);
    if ((number === 1) !== (line.kind === 'header'))
      throw unreadable(place, number === 1 ? FOREIGN : MISPLACED);
    fold.take(line);
  });
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, null);
    if (bytesRead === 0) break;
    if (!splitter.add(buffer.subarray(0, bytesRead))) throw unreadable(`${path}:${number + 1}`, TOO_LONG);
  }
  if (number === 0 && splitter.rest > 0) throw unreadable(path, FOREIGN);
  return fold.recovery(splitter.rest);
}

const FOREIGN = 'it does not begin as a journal does';
const MISPLACED = 'a journal has one header';
const TOO_LONG = `a line is longer than ${LONGEST_LINE} bytes`;

function readLine(bytes: Uint8Array, place: string): JournalLine {
  const json = readJson(bytes);
  if (!json.ok) throw unreadable(place, json.reason);
  const line = validate(journalLineSchema, json.value);
  if (!line.ok) throw unreadable(place, line.faults.join('; '));
  return line.value;
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
