import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { CallLog } from '../../events/call-log.js';
import type { Event } from '../../events/events.js';
import { discoveryOf } from '../../events/round-trips.js';
import { readTranscript, type Transcript } from '../../events/transcript-reader.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import { fixturesOfTranscript } from '../../fixtures/recording/from-transcript.js';
import { yamlOf } from '../../fixtures/yaml.js';
import { createPrivateFile, writePublicFile } from '../../system/files.js';
import type { Redactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { readRecording } from '../read-recording.js';
import { LARGEST_SAVED, readSource } from '../read-source.js';

// Loaded when a person opens or saves a file.

/** The transcript in a file; null where it holds something else. @throws ProtocolCliError `unreadable-file` */
export async function readTranscriptFile(path: string): Promise<Transcript | null> {
  return readRecording(basename(path), await readSource(path, Readable.from([]), LARGEST_SAVED));
}

/**
 * Writes events as a transcript without secrets that only its owner may read; never replaces a file (threats, rows 25 to 27).
 * @throws ProtocolCliError `unwritable-file`
 */
export async function writeTranscript(
  path: string,
  events: readonly Event[],
  redactor: Redactor,
  about: TranscriptAbout,
): Promise<void> {
  const file = await createPrivateFile(path);
  const writer = transcriptWriter(redactor);
  try {
    await file.write(writer.header(about));
    for (const event of events) for (const line of writer.event(event)) await file.write(line);
    await file.write(writer.end('saved'));
    await file.commit({ replaces: false });
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/**
 * Writes a call as a fixture file, with the operation as its toolset; never replaces a file. Writes none where the call has nothing that
 * a mock could serve.
 * @throws ProtocolCliError `unwritable-file`
 */
export async function writeFixture(
  path: string,
  book: CallLog,
  key: string,
  redactor: Redactor,
): Promise<{ readonly count: number; readonly warnings: readonly string[] }> {
  const own = book.of(key);
  const { endpoint = '', invocation } = book.history.exchanges.get(key) ?? {};
  const discovery = discoveryOf(book.of(null), { endpoint, seq: own[0]?.seq ?? 0 });
  const writer = transcriptWriter(redactor);
  const lines = [...discovery, ...own].flatMap(event => writer.event(event));
  const { file, warnings: losses } = await fixturesOfTranscript(readTranscript(lines));
  const tools = file.toolset.tools.filter(({ name }) => name === invocation?.operation);
  const warnings = losses.map(visibleLine);
  const notes = [...warnings, 'Serve it: protocol-cli mock-tool <this file>'];
  const text = yamlOf({ ...file, toolset: { ...file.toolset, tools } }, notes);
  const count = file.fixtures.length;
  if (count > 0) await writePublicFile(path, text, { replaces: false });
  return { count, warnings };
}
