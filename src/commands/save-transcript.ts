import { ProtocolCliError } from '../errors.js';
import type { Event } from '../exchange/events.js';
import type { Log } from '../exchange/log.js';
import { type TranscriptAbout, transcriptWriter } from '../exchange/transcript-writer.js';
import { warningText } from '../reporters/trouble.js';
import type { Redactor } from '../text/redact.js';

/** Who hears of it. */
export interface Saving {
  readonly stderr: { write(text: string): unknown };
  /** Told the line of each event, from 1, by its `seq`. */
  readonly onLine?: (seq: number, line: number) => void;
}

/**
 * `--save`: everything from now on is kept in a file of the owner's, secrets out. Returns how to put it in its place at the end, which
 * a run that reached nobody does not do where there is an earlier one: that is said on `stderr`.
 * @throws ProtocolCliError `unwritable-file`, here and at the end; `usage` for stdout.
 */
export async function saveTranscript(
  log: Log,
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
  { stderr, onLine }: Saving,
): Promise<(reason: string) => Promise<void>> {
  if (path === '-')
    throw new ProtocolCliError('usage', '--save - names no file', {
      hint: '-o ndjson writes the transcript to stdout.',
    });
  const { createPrivateFile, isTaken } = await import('../system/private-file.js');
  const file = await createPrivateFile(path);
  const writer = transcriptWriter(redactor);
  const reach = new Reach();
  await file.write(writer.header(about));
  let count = 1;
  log.keep(async event => {
    reach.note(event);
    const lines = writer.event(event);
    count += lines.length;
    onLine?.(event.seq, count);
    for (const line of lines) await file.write(line);
  });
  return async reason => {
    try {
      await log.kept();
      await file.write(writer.end(reason));
    } catch (error) {
      await file.discard();
      throw error;
    }
    try {
      await file.commit({ replaces: reach.hasReached });
    } catch (error) {
      if (!isTaken(error)) throw error;
      stderr.write(warningText({ message: `nobody was reached: ${path} is left as it was` }));
    }
  };
}

/** Whether anything was answered, by whichever side; that there is no toolset is no answer. */
class Reach {
  readonly #discoveries = new Set<string>();
  hasReached = false;

  note(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'discovery') this.#discoveries.add(event.leg);
    if (event.kind !== 'response') return;
    this.hasReached ||= event.status === 200 || !this.#discoveries.has(event.leg);
  }
}
