import type { Book } from '../../exchange/book.js';
import type { Event } from '../../exchange/events.js';
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
  const operation = book.history.exchanges.get(key)?.invocation.operation;
  const writer = transcriptWriter(redactor);
  const lines = [...discoveryFor(own, book.of(null)), ...own].flatMap(event => writer.event(event));
  const { file, warnings } = await fixturesOfTranscript(readTranscript(lines));
  const tools = file.toolset.tools.filter(({ name }) => name === operation);
  return { file: { ...file, toolset: { ...file.toolset, tools } }, warnings };
}

/** How the toolset that it was called by was discovered; where nobody said, all that was. */
function discoveryFor(own: readonly Event[], others: readonly Event[]): readonly Event[] {
  const call = own.find(event => event.kind === 'request');
  const before = others.filter(({ seq }) => call !== undefined && seq < call.seq);
  const loaded = before.findLast(event => event.kind === 'loaded' && event.endpoint === call?.url);
  const asked = before.filter(event => event.kind === 'request' && event.purpose === 'discovery');
  const base = loaded?.kind === 'loaded' ? loaded.base : null;
  const meant = asked.filter(event => base === null || (event.kind === 'request' && isAt(base, event.url)));
  const legs = new Set(meant.flatMap(event => (event.kind === 'request' ? [event.leg] : [])));
  return before.filter(event => 'leg' in event && event.leg !== undefined && legs.has(event.leg));
}

function isAt(base: string, url: string): boolean {
  return url.startsWith(`${base}/.well-known/`);
}
