import { rm } from 'node:fs/promises';
import type { Event } from '../events/events.js';
import type { GroupKeeper } from '../events/log.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { createPrivateFile, type Files, GroupWriter, openToAppend } from '../system/files.js';
import type { Redactor } from '../util/redact.js';

/** A transcript that is written line by line, so that a kill loses nothing: `log.keep(file)`. */
export interface TranscriptFile extends GroupKeeper {
  /**
   * Writes the end line.
   * @throws ProtocolCliError `unwritable-file` for the first line that could not be written in time, even if it was written later.
   */
  close(reason: string): Promise<void>;
  /** After it is closed: a recorder that did not start leaves no file. */
  remove(): Promise<void>;
}

/**
 * Creates a private file, or takes over an empty one (threats, rows 25 to 27).
 * @param files default: node:fs
 * @throws ProtocolCliError `unwritable-file`.
 */
export async function createTranscriptFile(
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
  files?: Files,
): Promise<TranscriptFile> {
  const lines = transcriptWriter(redactor);
  const draft = await createPrivateFile(path, files);
  await draft.write(lines.header(about));
  await draft.commit({ replaces: false });
  const file = await openToAppend(path, files);
  const { size: position } = await file.stat();
  const writer = new GroupWriter({ path, file, position, sync: false });
  const add = (texts: readonly string[]) => writer.add(texts.map(text => `${text}\n`).join(''));
  return {
    take: (event: Event) => add(lines.event(event)),
    kept: () => writer.kept(),
    async close(reason) {
      add([lines.end(reason)]);
      await writer.kept().catch(() => {}); // `failure` is thrown below
      await file.close();
      if (writer.failure) throw writer.failure;
    },
    remove: () => rm(path, { force: true }),
  };
}
