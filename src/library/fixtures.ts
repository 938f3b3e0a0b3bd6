import type { FixtureText } from '../fixtures/file-errors.js';
import {
  type NamedRecording,
  parseFixtures as parse,
  readFixtures as read,
} from '../fixtures/read-fixtures.js';
import type { Tool } from '../protocol/toolset.js';
import { withFullMessage } from './full-message.js';

/** A prepared answer. What it answers and how is in its file. */
export interface Fixture {
  /** The given id, or the place. */
  readonly id: string;
  /** `file:line`, or `file#n` if lines are unknown. */
  readonly place: string;
}

/** The tools that fixtures declare. */
export interface DeclaredToolset {
  readonly name: string;
  readonly description?: string | undefined;
  readonly tools: readonly Tool[];
  readonly needsMigration: boolean;
}

/**
 * The tools and fixtures of one or several files, for `startMockTool`.
 * @example
 * const places = ({ fixtures }: FixtureSet) => fixtures.map(({ place }) => place);
 */
export interface FixtureSet {
  readonly toolset: DeclaredToolset;
  /** In file order: the first match answers. */
  readonly fixtures: readonly Fixture[];
}

/**
 * Reads fixture files and merges them.
 * @param files the texts of the files: YAML or JSON
 * @param recordings transcripts, which answer calls that the files do not; of tools with the same name, that of the first file is used
 * @throws ProtocolCliError `usage` if a file is not given as text; `invalid-fixtures`, with the first errors of each file in `faults`
 * @example
 * const path = 'fixtures.yaml';
 * const fixtures = await readFixtures([{ path, text: await readFile(path, 'utf8') }]);
 */
export function readFixtures(
  files: readonly FixtureText[],
  recordings?: readonly NamedRecording[],
): Promise<FixtureSet> {
  return withFullMessage(read(files, recordings));
}

/**
 * The fixtures of a parsed file: without positions, and without a check of the tools' schemas.
 * @param value the content of a fixture file; see `protocol-cli/fixtures.schema.json`
 * @param file its name, for errors
 * @throws ProtocolCliError `invalid-fixtures`, with the first errors in `faults`
 * @example
 * const fixtures = parseFixtures({ version: 1, fixtures: [{ match: { operation: 'echo' }, reply: { payload: 'hi' } }] });
 */
export function parseFixtures(value: unknown, file?: string): FixtureSet {
  return parse(value, file);
}
