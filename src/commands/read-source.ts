import { readFile } from 'node:fs/promises';
import { ProtocolCliError } from '../errors.js';

/**
 * Bytes named on the command line: `-` is standard input, anything else a file.
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function readSource(name: string, stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  try {
    return name === '-' ? await readAll(stdin) : await readFile(name);
  } catch (error) {
    throw new ProtocolCliError(
      'unreadable-file',
      `cannot read ${name}: ${error instanceof Error ? error.message : error}`,
      {
        hint: 'The path is taken from the folder you are in.',
        cause: error,
      },
    );
  }
}

async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}
