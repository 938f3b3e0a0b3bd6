import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { ProtocolCliError } from '../util/errors.js';
import { asUtf8, bytesText, decodeUtf8 } from '../util/text.js';

/** Maximum size of a saved file. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/**
 * Reads bytes named on the command line: `-` is standard input, anything else a file. UTF-16 becomes UTF-8 (see {@link asUtf8}).
 * @param most maximum number of bytes
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function readSource(
  name: string,
  stdin: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  try {
    return asUtf8(await (name === '-' ? readAll(name, stdin, most) : readPath(name, most)));
  } catch (error) {
    if (error instanceof ProtocolCliError) throw error;
    const { readError: unreadable } = await import('../system/file-system-errors.js');
    throw await unreadable(name, error, 'The path is relative to the current folder.');
  }
}

/** Reads a text file written by people. @throws ProtocolCliError `unreadable-file`. */
export async function readText(file: string, stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const text = decodeUtf8(await readSource(file, stdin, LARGEST_TEXT));
  if (text !== null) return text;
  throw cannotRead(file, 'it is not UTF-8', 'Write it as YAML or JSON.');
}

/** Reads in one piece if the size is known. */
async function readPath(path: string, most: number): Promise<Uint8Array> {
  const found = await stat(path);
  if (found.isDirectory()) throw cannotRead(path, 'it is a folder', 'Name a file in it.');
  if (!found.isFile()) return readAll(path, createReadStream(path), most);
  if (found.size > most) throw tooLarge(path, most);
  return readFile(path);
}

async function readAll(name: string, source: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > most) throw tooLarge(name, most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(name: string, most: number): ProtocolCliError {
  return cannotRead(name, `it is larger than ${bytesText(most)}`, 'Use a smaller file.');
}

function cannotRead(name: string, reason: string, hint: string): ProtocolCliError {
  return new ProtocolCliError('unreadable-file', `cannot read ${name}: ${reason}`, { hint });
}
