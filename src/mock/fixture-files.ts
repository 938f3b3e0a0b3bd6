import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { ProtocolCliError } from '../util/errors.js';
import { isRecord } from '../util/values.js';

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

/** Where the fixtures of a mock tool come from. */
export type FixtureSource =
  /** Fixture files, or folders of them. */
  | string
  | URL
  | readonly (string | URL)[]
  /** What `readFixtures` or `parseFixtures` returned. */
  | FixtureSet
  /** The content of a fixture file. */
  | { readonly version: number; readonly [key: string]: unknown };

/** @throws ProtocolCliError `usage` for any other type; `unreadable-file`; `invalid-fixtures`, with every fault. */
export async function fixturesFrom(source: FixtureSource): Promise<FixtureSet> {
  if (isFixtureSet(source)) return source;
  if (isRecord(source) && !(source instanceof URL || source instanceof Promise))
    return (await import('../fixtures/read-fixtures.js')).parseFixtures(source);
  const list: readonly unknown[] = Array.isArray(source) ? source : [source];
  const paths = list.flatMap(path =>
    path instanceof URL ? [fileURLToPath(path)] : typeof path === 'string' ? [path] : [],
  );
  if (paths.length === 0 || paths.length < list.length) throw wrongSource(source);
  const files = await readFixtureFiles(await fixtureFiles(paths));
  const { readFixtures } = await import('../fixtures/read-fixtures.js');
  return readFixtures(files.map(file => ({ path: file.path, text: textOf(file) })));
}

/** Fixtures that were read have no version any more, and a place each. */
function isFixtureSet(source: unknown): source is FixtureSet {
  if (!isRecord(source) || 'version' in source) return false;
  const { toolset, middleware, fixtures } = source;
  const isPlaced = (each: unknown) => isRecord(each) && typeof each['place'] === 'string';
  return isRecord(toolset) && isRecord(middleware) && Array.isArray(fixtures) && fixtures.every(isPlaced);
}

function wrongSource(source: unknown): ProtocolCliError {
  const hint =
    source instanceof Promise
      ? 'This is a promise; await it.'
      : "For example: startMockTool({ fixtures: 'fixtures.yaml' })";
  return new ProtocolCliError('usage', 'fixtures must be a path, a list of paths, or fixtures', { hint });
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
  throw new ProtocolCliError('unreadable-file', `no fixtures in the folder ${path}`, {
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
  const reason = cause instanceof TypeError ? 'not valid UTF-8' : cause instanceof Error ? cause.message : '';
  return new ProtocolCliError('unreadable-file', `cannot read the fixtures ${path}: ${reason}`, {
    hint: 'Give the path of a YAML or JSON file that exists, of a folder of them, or of a transcript.',
    cause,
  });
}
