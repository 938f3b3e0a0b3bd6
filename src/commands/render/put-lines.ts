import { isClosed, writeOut } from '../../system/output.js';
import { saveLines } from './save-lines.js';

/** Characters written at once; a screenful does not wait for more. */
const FIRST_CHUNK = 4 * 1024;
const CHUNK = 64 * 1024;

/** Lines into a file where one is named, else to a stream. @throws ProtocolCliError `unwritable-file`. */
export function putLines(
  lines: Iterable<string>,
  path: string | undefined,
  stream: NodeJS.WritableStream,
): Promise<void> {
  return path === undefined ? writeLines(stream, lines) : saveLines(path, lines);
}

/** Piece by piece, as the reader takes them; no further once it has gone (threats, row 30). */
export async function writeLines(stream: NodeJS.WritableStream, lines: Iterable<string>): Promise<void> {
  let chunk = '';
  let least = FIRST_CHUNK;
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < least) continue;
    await writeOut(stream, chunk);
    chunk = '';
    least = CHUNK;
    if (isClosed(stream)) return;
  }
  await writeOut(stream, chunk);
}
