import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { troubleText } from '../render/outputs/trouble.js';
import { writePublicFile } from '../system/files.js';
import { writeOut } from '../system/streams.js';
import { ProtocolCliError } from '../util/errors.js';
import { decodeUtf8 } from '../util/json.js';
import type { ReportRequest } from './reports.js';
import { type ExitStatus, statusOfFailure, type Terminal } from './terminal.js';

/** Bytes of something saved that is shown. */
export const LARGEST_SAVED = 64 * 1024 * 1024;

const LARGEST_TEXT = 16 * 1024 * 1024;

/**
 * Bytes named on the command line: `-` is standard input, anything else a file.
 * @param most bytes; whatever has more is refused
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function readSource(
  name: string,
  stdin: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  try {
    return await (name === '-' ? readAll(stdin, most) : readPath(name, most));
  } catch (error) {
    throw new ProtocolCliError(
      'unreadable-file',
      `cannot read ${name}: ${error instanceof Error ? error.message : error}`,
      { hint: hintFor(error), cause: error },
    );
  }
}

/** A text file that people write. @throws ProtocolCliError `unreadable-file`. */
export async function readText(file: string, stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const text = decodeUtf8(await readSource(file, stdin, LARGEST_TEXT));
  if (text !== null) return text;
  throw new ProtocolCliError('unreadable-file', `cannot read ${file}: it is not UTF-8`, {
    hint: 'Write it as YAML or JSON.',
  });
}

function hintFor(error: unknown): string {
  if (error instanceof TooLarge) return SMALLER;
  return error instanceof Folder ? 'Name a file in it.' : RELATIVE;
}

const RELATIVE = 'The path is relative to the current folder.';
const SMALLER = 'Use a smaller file.';

class TooLarge extends Error {}
class Folder extends Error {}

const tooLarge = (most: number) => new TooLarge(`it is larger than ${most / 1024 ** 2} MiB`);

/** In one piece, where it is a file whose size is known. */
async function readPath(path: string, most: number): Promise<Uint8Array> {
  const there = await stat(path);
  if (there.isDirectory()) throw new Folder('it is a folder');
  if (!there.isFile()) return readAll(createReadStream(path), most);
  if (there.size > most) throw tooLarge(most);
  return readFile(path);
}

async function readAll(source: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Writes the reports that were asked for. One that cannot be written is said, and hides no other. Returns the status for that; else 0. */
export async function writeReports<Report extends ReportRequest>(
  reports: readonly Report[],
  textOf: (report: Report) => string,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const report of reports) {
    const { file } = report;
    const text = textOf(report);
    const failure = await failureOf(file === null ? writeOut(stdout, text) : writePublicFile(file, text));
    if (!failure) continue;
    stderr.write(troubleText(failure));
    status ||= statusOfFailure(failure.code);
  }
  return status;
}

async function failureOf(writing: Promise<void>): Promise<ProtocolCliError | null> {
  try {
    await writing;
    return null;
  } catch (error) {
    if (error instanceof ProtocolCliError) return error;
    throw error;
  }
}
