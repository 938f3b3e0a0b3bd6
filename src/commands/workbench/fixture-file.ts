import type { Book } from '../../exchange/book.js';
import { yamlOf } from '../../fixtures/recorded/yaml.js';
import { writePublicFile } from '../../system/public-file.js';
import type { Redactor } from '../../text/redact.js';
import { visibleLine } from '../../text/visible.js';
import { fixtureOf } from './fixture-of.js';

// Loaded when a person wants a file.

/**
 * Writes what came of a call as a fixture file, in no file's place; none where nothing did that could be served.
 * @throws ProtocolCliError `unwritable-file`.
 */
export async function writeFixture(
  path: string,
  book: Book,
  key: string,
  redactor: Redactor,
): Promise<{ readonly count: number; readonly warnings: readonly string[] }> {
  const { file, warnings: lost } = await fixtureOf(book, key, redactor);
  const warnings = lost.map(visibleLine);
  const count = file.fixtures.length;
  if (count > 0) await writePublicFile(path, yamlOf(file, [...warnings, SERVE]), { replaces: false });
  return { count, warnings };
}

const SERVE = 'Serve it: protocol-cli mock-tool <this file>';
