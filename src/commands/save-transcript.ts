import type { Log } from '../events/log.js';
import type { EventRedactor } from '../events/shareable.js';
import type { Observer } from '../events/transcript-reader.js';
import type { TranscriptAbout } from '../events/transcript-writer.js';
import { type Clock, systemClock } from '../system/clock.js';
import { usageError } from './options.js';
import { PROGRAM } from './terminal.js';
import type { TranscriptFile, TranscriptFileOptions } from './transcript-file.js';

/** Returns the header of a transcript that starts now. */
export function headerFor(observer: Observer, clock: Clock = systemClock): TranscriptAbout {
  return { startedAt: clock.wall().toISOString(), observer, program: PROGRAM };
}

/**
 * `--save`: writes all events from now on to a private file, secrets redacted. Returns how to end it; without a path, nothing is
 * written.
 * @throws ProtocolCliError `unwritable-file`, now or at the end; `usage` for stdout.
 */
export async function saveTranscript(
  log: Log,
  path: string | undefined,
  redactor: EventRedactor,
  about: TranscriptAbout,
  options?: TranscriptFileOptions,
): Promise<(reason: string) => Promise<void>> {
  if (path === undefined) return async () => {};
  const file = await openTranscript(path, redactor, about, options);
  log.storeEventsIn(file);
  return file.close;
}

/**
 * A new transcript file. It learns the secrets of each event before it writes it.
 * @throws ProtocolCliError `unwritable-file`, now or at the end; `usage` for stdout.
 */
export async function openTranscript(
  path: string,
  redactor: EventRedactor,
  about: TranscriptAbout,
  options?: TranscriptFileOptions,
): Promise<TranscriptFile> {
  if (path === '-')
    throw usageError('--save needs a file name', '-o ndjson writes the transcript to stdout.');
  const { createTranscriptFile } = await import('./transcript-file.js');
  const file = await createTranscriptFile(path, redactor, about, options);
  return {
    ...file,
    take(event) {
      redactor.learn(event);
      file.take(event);
    },
  };
}
