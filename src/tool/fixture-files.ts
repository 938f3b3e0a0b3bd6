import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ProtocolCliError } from '../../errors.js';

const FIXTURES = /\.(ya?ml|json)$/i;
const NO_FIXTURES = /\.schema\.json$/i;

/**
 * The fixture files that are meant: files as they are named, folders as what is directly in them, in order of names. Of a folder no
 * transcripts: what is saved or logged there must not answer calls by that alone.
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function fixtureFiles(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(filesAt));
  return found.flat();
}

/** A file that answers calls, fixtures or a transcript. */
export interface FixtureBytes {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** @throws ProtocolCliError `unreadable-file`. */
export function readFixtureFiles(files: readonly string[]): Promise<FixtureBytes[]> {
  return Promise.all(files.map(async path => ({ path, bytes: await readBytes(path) })));
}

/** @throws ProtocolCliError `unreadable-file`. */
export function textOf({ path, bytes }: FixtureBytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

async function filesAt(path: string): Promise<string[]> {
  const about = await stat(path).catch(cause => {
    throw unreadable(path, cause);
  });
  if (!about.isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries
    .filter(entry => entry.isFile() && FIXTURES.test(entry.name) && !NO_FIXTURES.test(entry.name))
    .map(entry => join(path, entry.name))
    .sort();
  if (names.length > 0) return names;
  throw new ProtocolCliError('unreadable-file', `there are no fixtures in the folder ${path}`, {
    hint: 'Fixtures are files that end in .yaml, .yml or .json; transcripts are named one by one.',
  });
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): ProtocolCliError {
  const reason = cause instanceof TypeError ? 'it is not UTF-8' : cause instanceof Error ? cause.message : '';
  return new ProtocolCliError('unreadable-file', `cannot read the fixtures ${path}: ${reason}`, {
    hint: 'Give the path of a YAML or JSON file that exists, of a folder of them, or of a transcript.',
    cause,
  });
}
