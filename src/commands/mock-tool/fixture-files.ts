import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ProtocolCliError } from '../../errors.js';
import type { FixtureText } from '../../fixtures/read-fixtures.js';

const FIXTURES = /\.(ya?ml|json)$/i;
const NO_FIXTURES = /\.schema\.json$/i;

/**
 * The fixture files that are meant: files as they are named, folders as what is directly in them, in order of names.
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function fixtureFiles(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(filesAt));
  return found.flat();
}

/** @throws ProtocolCliError `unreadable-file`. */
export function readFixtureFiles(files: readonly string[]): Promise<FixtureText[]> {
  return Promise.all(files.map(async path => ({ path, text: await readText(path) })));
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
    hint: 'Fixtures are files that end in .yaml, .yml or .json.',
  });
}

async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): ProtocolCliError {
  const reason = cause instanceof TypeError ? 'it is not UTF-8' : cause instanceof Error ? cause.message : '';
  return new ProtocolCliError('unreadable-file', `cannot read the fixtures ${path}: ${reason}`, {
    hint: 'Give the path of a YAML or JSON file that exists, or of a folder of them.',
    cause,
  });
}
