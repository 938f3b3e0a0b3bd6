import type { Book } from '../../exchange/book.js';
import { discoveryOf } from '../../exchange/discovery-of.js';
import { readTranscript } from '../../exchange/transcript-reader.js';
import { transcriptWriter } from '../../exchange/transcript-writer.js';
import {
  fixturesOfTranscript,
  type RecordedFixtures,
} from '../../fixtures/recorded/fixtures-of-transcript.js';
import type { Redactor } from '../../text/redact.js';

/** What came of a call, as the fixtures that `mock-tool --export` makes of its transcript; of the toolset no more than its operation. */
export async function fixtureOf(book: Book, key: string, redactor: Redactor): Promise<RecordedFixtures> {
  const own = book.of(key);
  const { endpoint = '', invocation } = book.history.exchanges.get(key) ?? {};
  const discovery = discoveryOf(book.of(null), { endpoint, seq: own[0]?.seq ?? 0 });
  const writer = transcriptWriter(redactor);
  const lines = [...discovery, ...own].flatMap(event => writer.event(event));
  const { file, warnings } = await fixturesOfTranscript(readTranscript(lines));
  const tools = file.toolset.tools.filter(({ name }) => name === invocation?.operation);
  return { file: { ...file, toolset: { ...file.toolset, tools } }, warnings };
}
