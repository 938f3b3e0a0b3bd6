import type { Stats } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import type { Event } from '../events/events.js';
import type { EventStore } from '../events/log.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { pluralize } from '../render/line.js';
import { AppendWriter } from '../system/append-writer.js';
import { createPrivateFile, type Files, isEmptyFile } from '../system/atomic-file.js';
import { beforeAnyEnd } from '../system/process.js';
import type { Redactor } from '../util/redact.js';

/** A transcript that is written line by line, so that a kill loses nothing: `log.storeEventsIn(file)`. */
export interface TranscriptFile extends EventStore {
  /**
   * Writes the last line. A run that failed before its first event leaves no new file.
   * @throws ProtocolCliError `unwritable-file` for the first line that could not be written in time, even if it was written later.
   */
  close(reason: string): Promise<void>;
}

export interface TranscriptFileOptions {
  /** Receives the line number of each event, from 1, by its `seq`. */
  readonly onLine?: (seq: number, line: number) => void;
  /** Receives what is left of the transcript if this process is forced to end. */
  readonly onForcedEnd?: (message: string) => void;
  readonly files?: Files;
}

/** The transcripts of this process: with `--watch`, each run replaces that of the run before. */
const ownFiles = new Map<string, Stats>();

/** Whether a transcript may replace a file: an empty one, or an unchanged transcript of this process. */
function isReplaceable(path: string): (there: Stats) => boolean {
  const own = ownFiles.get(path);
  return there => isEmptyFile(there) || (there.ino === own?.ino && there.mtimeMs === own.mtimeMs);
}

/** @throws ProtocolCliError `unwritable-file` if a transcript cannot be created */
export async function requireFreePath(path: string): Promise<void> {
  await (await createPrivateFile(path, { replaces: isReplaceable(path) })).discard();
}

/**
 * Creates a private file with a header (threats, rows 25 to 27).
 * @throws ProtocolCliError `unwritable-file`, also if a file exists that is not empty.
 */
export async function createTranscriptFile(
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
  { onLine, onForcedEnd, files }: TranscriptFileOptions = {},
): Promise<TranscriptFile> {
  const lines = transcriptWriter(redactor);
  const isNew = !ownFiles.has(path);
  const draft = await createPrivateFile(path, { replaces: isReplaceable(path), ...(files && { files }) });
  await draft.write(lines.header(about));
  await draft.commit();
  const writer = await AppendWriter.open(path, files);
  const add = (texts: readonly string[]) => writer.add(texts.map(text => `${text}\n`).join(''));
  let [events, line] = [0, 1];
  const forget = beforeAnyEnd(() => {
    forget();
    writer.finishSync();
    onForcedEnd?.(`kept ${path}: incomplete, ${pluralize(events, 'event')}\n`);
  });
  return {
    take(event: Event) {
      const texts = lines.event(event);
      events++;
      line += texts.length;
      onLine?.(event.seq, line);
      add(texts);
    },
    stored: () => writer.written(),
    async close(reason) {
      add([lines.end(reason)]);
      await writer.written().catch(() => {}); // thrown below as `failure`
      await writer.close();
      forget();
      if (events === 0 && reason !== 'done' && isNew) return rm(path, { force: true });
      const own = await lstat(path).catch(() => null); // removed already
      if (own) ownFiles.set(path, own);
      if (writer.failure) throw writer.failure;
    },
  };
}
