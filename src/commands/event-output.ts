import { lstat } from 'node:fs/promises';
import type { Event, RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { callbackSecrets, type EventRedactor, withQuestionSecrets } from '../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { type Clock, systemClock } from '../system/clock.js';
import type { OutputLine, Redactor } from '../util/redact.js';
import { piecesOf } from '../util/text.js';
import { usage } from './options.js';
import { PROGRAM } from './terminal.js';

/** Returns the header of a transcript that starts now. */
export function aboutNow(observer: TranscriptAbout['observer'], clock: Clock = systemClock): TranscriptAbout {
  return { startedAt: clock.wall().toISOString(), observer, program: PROGRAM };
}

/** The transcripts of this process: with `--watch`, each run replaces that of the run before. */
const ownFiles = new Set<string>();

/**
 * `--save`: writes all events from now on to a private file, secrets redacted. Returns how to end it; without a path, nothing is
 * written.
 * @param onLine receives the line number of each event, from 1, by its `seq`
 * @throws ProtocolCliError `unwritable-file`, now or at the end; `usage` for stdout, and for a file that exists.
 */
export async function saveTranscript(
  log: Log,
  path: string | undefined,
  redactor: Redactor,
  about: TranscriptAbout,
  onLine: (seq: number, line: number) => void = () => {},
): Promise<(reason: string) => Promise<void>> {
  if (path === undefined) return async () => {};
  if (path === '-') throw usage('--save needs a file name', '-o ndjson writes the transcript to stdout.');
  await refuseToReplace(path, '--save');
  const { createPrivateFile } = await import('../system/files.js');
  const file = await createPrivateFile(path);
  const writer = transcriptWriter(redactor);
  await file.write(writer.header(about));
  let count = 1;
  log.keep(async event => {
    const lines = writer.event(event);
    count += lines.length;
    onLine(event.seq, count);
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
    await file.commit({ replaces: ownFiles.has(path) });
    ownFiles.add(path);
  };
}

/**
 * Throws if a file is not empty, before the work starts; the writer also does not replace files that appear later.
 * @param option that names the file, as `--save`
 * @throws ProtocolCliError `usage`.
 */
export async function refuseToReplace(path: string, option: string): Promise<void> {
  const there = await lstat(path).catch(() => null); // writing reports other errors
  if (!there?.isSymbolicLink() && !(there?.isFile() && there.size > 0)) return;
  if (ownFiles.has(path)) return;
  throw usage(`${option}: ${path} already exists`, 'Choose another name, or remove the file.');
}

/**
 * Finds the secrets in other programs' messages (threats, row 25): callback URLs in anything that looks like an invocation, and the
 * addresses of questions.
 * @param credentials other secrets
 */
export function wireSecrets(credentials: Redactor): EventRedactor {
  const callbacks = callbackSecrets();
  const questions = withQuestionSecrets({
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

/** Maximum number of characters waiting for a reader; further lines are dropped and counted. */
const MAX_WAITING = 64 * 1024 * 1024;

/** Maximum number of bytes handed to the stream before its reader took them; a long line is made in pieces. */
const MAX_AHEAD = 1024 * 1024;

interface Output {
  readonly writableLength: number;
  write(text: string): unknown;
  once(event: 'drain', listener: () => void): unknown;
}

/**
 * Writes lines to a reader that may be slow. Producers cannot wait, so lines that would fill the memory are dropped (threats, row 30).
 * When there is room again, `dropped` returns the lines that report their number.
 */
export class BoundedLines {
  readonly #waiting: { readonly length: number; readonly pieces: Iterator<string> }[] = [];
  #lost = 0;
  #isPaused = false;

  constructor(
    private readonly output: Output,
    private readonly dropped: (count: number) => readonly OutputLine[],
    private readonly maxWaiting = MAX_WAITING,
  ) {}

  /** Writes all of these lines, or none; dropped lines are never created. */
  write(lines: () => readonly OutputLine[]): void {
    const waiting = this.#waiting.reduce((sum, { length }) => sum + length, this.output.writableLength);
    if (waiting > this.maxWaiting) this.#lost++;
    else this.end(lines);
  }

  /** Writes lines that are never dropped, after the report of dropped ones. */
  end(lines: () => readonly OutputLine[]): void {
    const lost = this.#lost > 0 ? this.dropped(this.#lost) : [];
    this.#lost = 0;
    const all = [...lost, ...lines()];
    this.#waiting.push({
      length: all.reduce((sum, line) => sum + line.length, 0),
      pieces: piecesOfLines(all),
    });
    this.#flush();
  }

  #flush(): void {
    while (!this.#isPaused) {
      const piece = this.#waiting[0]?.pieces.next();
      if (!piece) return;
      if (piece.done) this.#waiting.shift();
      else this.output.write(piece.value);
      if (this.output.writableLength > MAX_AHEAD) this.#pause();
    }
  }

  #pause(): void {
    this.#isPaused = true;
    this.output.once('drain', () => {
      this.#isPaused = false;
      this.#flush();
    });
  }
}

/** Joins short lines and splits long ones. */
function* piecesOfLines(lines: readonly OutputLine[]): Generator<string> {
  let piece = '';
  for (const line of lines) {
    for (const part of typeof line === 'string' ? piecesOf(line) : line) {
      piece += part;
      if (piece.length < WRITE_SIZE) continue;
      yield piece;
      piece = '';
    }
    piece += '\n';
  }
  if (piece !== '') yield piece;
}

/** Approximate number of characters per write. */
const WRITE_SIZE = 64 * 1024;

/** Returns the event that replaces events dropped for a slow reader. */
function droppedEvents(count: number, { seq, at }: Pick<Event, 'seq' | 'at'>): Event {
  return { kind: 'dropped', what: 'event', why: 'the reader of stdout is too slow', count, seq, at };
}

/** Calls the listener for all past and future events. Returns how to stop. */
export type Subscribe = (listener: (event: Event) => void) => () => void;

/** `-o ndjson`: writes each event to stdout as a line of a transcript. Returns how to end the transcript. */
export function streamTranscript(
  subscribe: Subscribe,
  stdout: NodeJS.WriteStream,
  redactor: Redactor,
  about: TranscriptAbout,
): (reason: string) => void {
  const writer = transcriptWriter(redactor);
  let latest = { seq: 0, at: 0 };
  const lines = new BoundedLines(stdout, count => writer.event(droppedEvents(count, latest)));
  lines.end(() => [writer.header(about)]);
  const stop = subscribe(event => {
    lines.write(() => writer.lines(event));
    latest = event;
  });
  return reason => {
    stop();
    lines.end(() => [writer.end(reason)]);
  };
}
