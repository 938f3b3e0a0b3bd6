import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { Event, RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { callbackRedactor, type EventRedactor, questionRedactor } from '../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { type Clock, systemClock } from '../system/clock.js';
import type { PrivateFile } from '../system/files.js';
import type { Redactor } from '../util/redact.js';
import { usageError } from './options.js';
import { PROGRAM } from './terminal.js';

/** Returns the header of a transcript that starts now. */
export function headerFor(
  observer: TranscriptAbout['observer'],
  clock: Clock = systemClock,
): TranscriptAbout {
  return { startedAt: clock.wall().toISOString(), observer, program: PROGRAM };
}

/** The transcripts of this process: with `--watch`, each run replaces that of the run before. */
const ownFiles = new Map<string, Stats>();

/**
 * Reserves the path of a transcript. Replaces an empty file, and a file of this process that is unchanged; a changed one is kept.
 * @throws ProtocolCliError `unwritable-file`, also for any other file.
 */
export async function createTranscript(path: string): Promise<PrivateFile> {
  const { createPrivateFile, isEmptyFile } = await import('../system/files.js');
  const own = ownFiles.get(path);
  const isOwn = (there: Stats) => there.ino === own?.ino && there.mtimeMs === own.mtimeMs;
  return createPrivateFile(path, {
    replaces: there => isEmptyFile(there) || isOwn(there),
    isReserved: own !== undefined,
  });
}

/**
 * `--save`: writes all events from now on to a private file, secrets redacted. Returns how to end it; without a path, nothing is
 * written. A run that failed before its first event leaves no new file.
 * @param onLine receives the line number of each event, from 1, by its `seq`
 * @throws ProtocolCliError `unwritable-file`, now or at the end; `usage` for stdout.
 */
export async function saveTranscript(
  log: Log,
  path: string | undefined,
  redactor: Redactor,
  about: TranscriptAbout,
  onLine: (seq: number, line: number) => void = () => {},
): Promise<(reason: string) => Promise<void>> {
  if (path === undefined) return async () => {};
  if (path === '-')
    throw usageError('--save needs a file name', '-o ndjson writes the transcript to stdout.');
  const file = await createTranscript(path);
  const writer = transcriptWriter(redactor);
  await file.write(writer.header(about));
  let count = 1;
  log.storeEventsIn(async event => {
    const lines = writer.event(event);
    count += lines.length;
    onLine(event.seq, count);
    for (const line of lines) await file.write(line);
  });
  return async reason => {
    try {
      await log.stored();
      if (count === 1 && reason !== 'done' && !ownFiles.has(path)) return await file.discard();
      await file.write(writer.end(reason));
    } catch (error) {
      await file.discard();
      throw error;
    }
    await file.commit();
    await lstat(path).then(
      own => ownFiles.set(path, own),
      () => {}, // removed already
    );
  };
}

/**
 * Finds the secrets in other programs' messages (threats, row 25): callback URLs in anything that looks like an invocation, and the
 * addresses of questions.
 * @param credentials other secrets
 */
export function wireSecrets(credentials: Redactor): EventRedactor {
  const callbacks = callbackRedactor();
  const questions = questionRedactor({
    add: secret => credentials.add(secret),
    text: text => callbacks.text(credentials.text(text)),
  });
  return {
    ...questions,
    learn(event) {
      callbacks.learn(event);
      questions.learn(event);
      if (event.kind === 'request' && event.purpose === 'invocation') learnUrls(callbacks, event);
    },
  };
}

const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>\\]{1,4096})/gi;

/** An invocation may be invalid JSON, or have several callback URLs: anything that looks like one is secret. */
function learnUrls(callbacks: EventRedactor, { body, ...event }: RequestEvent): void {
  const text = body ? Buffer.from(body.bytes).toString('utf8').replaceAll('\\/', '/') : '';
  for (const [, url = ''] of text.matchAll(CALLBACK_URL))
    callbacks.learn({ ...event, purpose: 'callback', url });
}

/** Calls the listener for all past and future events. Returns how to stop. */
export type Subscribe = (listener: (event: Event) => void) => () => void;
