import { Readable } from 'node:stream';
import type { Event } from '../../events/events.js';
import {
  isTranscript,
  readTranscripts,
  type Transcript,
  withoutReadyLines,
} from '../../events/transcript-reader.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import { createPrivateFile } from '../../system/files.js';
import type { Redactor } from '../../util/redact.js';
import { byteLines } from '../../util/strings.js';
import { LARGEST_SAVED, readSource } from '../read-source.js';

// Loaded when a person wants a file.

/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;

/**
 * The transcripts in a file, as `cat` joins them; null where it holds something else.
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function readTranscriptFile(path: string): Promise<readonly Transcript[] | null> {
  const bytes = await readSource(path, Readable.from([]), LARGEST_SAVED);
  if (!isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)))) return null;
  return readTranscripts(withoutReadyLines(byteLines(bytes)));
}

/**
 * Writes events as a transcript that only its owner may read, in no file's place, secrets out (threats, rows 25 to 27).
 * @throws ProtocolCliError `unwritable-file`.
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
