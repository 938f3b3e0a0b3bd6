import { rm } from 'node:fs/promises';
import type { Event } from '../exchange/events.js';
import type { GroupKeeper } from '../exchange/log.js';
import { type TranscriptAbout, transcriptWriter } from '../exchange/transcript-writer.js';
import type { Files } from '../system/files.js';
import { GroupWriter } from '../system/group-writer.js';
import { createPrivateFile, openToAppend } from '../system/private-file.js';
import type { Redactor } from '../text/redact.js';

/** A transcript that is written line by line, so that whoever is killed leaves all that was said: `log.keep(file)`. */
export interface TranscriptFile extends GroupKeeper {
  /**
   * Writes why it ends, and what is left.
   * @throws ProtocolCliError `unwritable-file` for the first line that could not be written in time, were it written later.
   */
  close(reason: string): Promise<void>;
  /** Once it is closed: of what never began nothing is left, so that it can be begun again. */
  remove(): Promise<void>;
}

/**
 * Starts a file of the owner's where nothing is, or an empty file (threats, rows 25 to 27).
 * @param files node:fs unless told
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
      await writer.kept().catch(() => {}); // `failure` says it
      await file.close();
      if (writer.failure) throw writer.failure;
    },
    remove: () => rm(path, { force: true }),
  };
}
