import { ProtocolCliError } from '../errors.js';
import type { Log } from '../exchange/log.js';
import { type TranscriptAbout, transcriptWriter } from '../exchange/transcript-writer.js';
import type { Redactor } from '../text/redact.js';

/**
 * `--save`: everything from now on is kept in a file of the owner's, secrets out. Returns how to put it in its place at the end.
 * @throws ProtocolCliError `unwritable-file`, here and at the end; `usage` for stdout.
 */
export async function saveTranscript(
  log: Log,
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
): Promise<(reason: string) => Promise<void>> {
  if (path === '-')
    throw new ProtocolCliError('usage', '--save - names no file', {
      hint: '-o ndjson writes the transcript to stdout.',
    });
  const { createPrivateFile } = await import('../system/private-file.js');
  const file = await createPrivateFile(path);
  const writer = transcriptWriter(redactor);
  await file.write(writer.header(about));
  log.keep(async event => {
    for (const line of writer.event(event)) await file.write(line);
  });
  return async reason => {
    try {
      await log.kept();
      await file.write(writer.end(reason));
    } catch (error) {
      await file.discard();
      throw error;
    }
    await file.commit();
  };
}
