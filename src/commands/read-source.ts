import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { ProtocolCliError } from '../errors.js';

/** Bytes of something saved that is shown. */
export const LARGEST_SAVED = 64 * 1024 * 1024;

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

function hintFor(error: unknown): string {
  if (error instanceof TooLarge) return SMALLER;
  return error instanceof Folder ? 'Name a file in it.' : RELATIVE;
}

const RELATIVE = 'The path is taken from the folder you are in.';
const SMALLER = 'Give a part of it.';

class TooLarge extends Error {}
class Folder extends Error {}

const tooLarge = (most: number) => new TooLarge(`it has more than ${most / 1024 ** 2} MiB`);

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
