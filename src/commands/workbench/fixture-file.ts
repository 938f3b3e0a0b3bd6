import type { Book } from '../../events/call-log.js';
import { discoveryOf } from '../../events/discovery-of.js';
import { readTranscript } from '../../events/transcript-reader.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import { fixturesOfTranscript, type RecordedFixtures } from '../../fixtures/recording/from-transcript.js';
import { yamlOf } from '../../fixtures/recording/write-yaml.js';
import { writePublicFile } from '../../system/files.js';
import type { Redactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';

/** What came of a call, as the fixtures that `mock-tool --export` makes of its transcript; of the toolset no more than its operation. */
async function fixtureOf(book: Book, key: string, redactor: Redactor): Promise<RecordedFixtures> {
  const own = book.of(key);
  const { endpoint = '', invocation } = book.history.exchanges.get(key) ?? {};
  const discovery = discoveryOf(book.of(null), { endpoint, seq: own[0]?.seq ?? 0 });
  const writer = transcriptWriter(redactor);
  const lines = [...discovery, ...own].flatMap(event => writer.event(event));
  const { file, warnings } = await fixturesOfTranscript(readTranscript(lines));
  const tools = file.toolset.tools.filter(({ name }) => name === invocation?.operation);
  return { file: { ...file, toolset: { ...file.toolset, tools } }, warnings };
}

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
