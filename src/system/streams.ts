import { fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import type { OutputLine } from '../util/output-line.js';
import { codePointEnd } from '../util/text.js';

const CHUNK = 64 * 1024;

const quiet = new WeakSet<NodeJS.WritableStream>();

const closed = new WeakSet<NodeJS.WritableStream>();

/** Whether the reader of a stream has closed it, such as `head -1` or a closed terminal. */
export function isClosed(stream: NodeJS.WritableStream): boolean {
  return closed.has(stream);
}

/** Whether two streams write to the same file or pipe, as with `2>&1`. */
export function isSameFile(
  ...streams: readonly (NodeJS.WritableStream & { readonly fd?: number })[]
): boolean {
  try {
    const ids = streams.map(({ fd = -1 }) => fstatSync(fd)).map(({ dev, ino }) => `${dev} ${ino}`);
    return new Set(ids).size === 1;
  } catch {
    return false; // not a file of the system
  }
}

/** Ignores a closed reader (threats, row 30). Any other error is thrown as `unwritable-file`, unless there is another listener. */
export function ignoreClosedPipes(...streams: readonly NodeJS.WritableStream[]): void {
  for (const stream of streams) {
    if (quiet.has(stream)) continue;
    quiet.add(stream);
    stream.on('error', error => {
      const isReported = stream.listenerCount('error') > 1 || (pieces.get(stream) ?? 0) > 0;
      if (!endsQuietly(stream, error) && !isReported) throw unwritable(error);
    });
  }
}

/**
 * Writes all of `data` in pieces, at the reader's speed, so that a long string never becomes one buffer. Also resolves if the reader
 * has closed the stream; see {@link isClosed}.
 * @throws ProtocolCliError `unwritable-file` for other errors, such as a full disk.
 */
export async function writeOut(stream: NodeJS.WritableStream, data: string | Uint8Array): Promise<void> {
  ignoreClosedPipes(stream);
  for (let from = 0; from < data.length && !isClosed(stream); ) {
    const to = typeof data === 'string' ? codePointEnd(data, from + CHUNK) : from + CHUNK;
    await writePiece(stream, typeof data === 'string' ? data.slice(from, to) : data.subarray(from, to));
    from = to;
  }
}

/** The pieces on their way. One that failed stays: the same error is also emitted as an event later. */
const pieces = new WeakMap<NodeJS.WritableStream, number>();

function writePiece(stream: NodeJS.WritableStream, piece: string | Uint8Array): Promise<void> {
  const count = (by: number) => pieces.set(stream, (pieces.get(stream) ?? 0) + by);
  count(1);
  return new Promise((resolve, reject) => {
    stream.write(piece, error => {
      if (!error) count(-1);
      if (!error || endsQuietly(stream, error)) resolve();
      else reject(unwritable(error));
    });
  });
}

function endsQuietly(stream: NodeJS.WritableStream, error: Error): boolean {
  const code = errnoOf(error);
  if (code === 'EPIPE' || (code === 'EIO' && isTerminal(stream))) closed.add(stream);
  return isClosed(stream);
}

function isTerminal(stream: NodeJS.WritableStream & { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

function unwritable(error: Error): ProtocolCliError {
  return new ProtocolCliError('unwritable-file', `cannot write the output: ${error.message}`, {
    hint: 'Is the disk full?',
    cause: error,
  });
}

/** Takes a text. Resolves once there is room for more: a source that can wait does so until then. */
export type Sink = (text: string) => Promise<void>;

/** Returns texts that report how many were dropped. */
export type LossReport = (count: number) => readonly OutputLine[];

interface Waiter {
  /** The position, in characters, up to which the output must be written. */
  readonly position: number;
  resolve(): void;
  reject(error: unknown): void;
}

const outputs = new WeakMap<Writable, BoundedOutput>();

/** Returns the output of a stream, which all writers to the stream share. */
export function outputOf(stream: Writable): BoundedOutput {
  const output = outputs.get(stream) ?? new BoundedOutput(stream);
  outputs.set(stream, output);
  return output;
}

/**
 * Writes texts in order, at the reader's speed: immediately while the stream takes them; otherwise they wait here, in bounded memory
 * (threats, row 30). A source that can wait uses `take`. Texts of other sources (`news`) are dropped if too much is waiting; their number
 * is reported when there is room again.
 */
export class BoundedOutput {
  #texts: OutputLine[] = [];
  #added = 0;
  #written = 0;
  #lost = 0;
  #reportLoss: LossReport = messagesDropped;
  #isWriting = false;
  /** Why the output cannot be written. */
  #failure: { readonly error: unknown } | null = null;
  #waiters: Waiter[] = [];
  readonly #errorListeners: ((error: unknown) => void)[] = [];
  /** Resolves once little is waiting. */
  #room = Promise.resolve();
  #makeRoom: (() => void) | null = null;

  constructor(
    private readonly stream: Writable,
    private readonly max = LIMITS.outputChars.value,
  ) {}

  /** Calls back if the output cannot be written or a text cannot be made; `written()` then rejects, and no more is made or written. */
  onError(listener: (error: unknown) => void): void {
    this.#errorListeners.push(listener);
  }

  /** Writes texts that are never dropped, after the report of dropped ones. */
  write(...texts: readonly OutputLine[]): void {
    this.#add(() => texts);
  }

  /**
   * Makes and writes all of these texts, or none.
   * @param reportLoss if these are the last dropped ones, it reports all of them later
   */
  news(make: () => readonly OutputLine[], reportLoss: LossReport = messagesDropped): void {
    if (this.#added - this.#written > this.max) {
      this.#lost++;
      this.#reportLoss = reportLoss;
    } else this.#add(make);
  }

  /** As `news`. Resolves once little is waiting, or nothing more can be written. */
  readonly take: Sink = text => {
    this.news(() => [text]);
    if (this.#isCrowded && !this.#makeRoom)
      this.#room = new Promise(resolve => {
        this.#makeRoom = resolve;
      });
    return this.#room;
  };

  /**
   * Resolves once all texts so far, and the number of dropped ones, are written.
   * @throws ProtocolCliError `unwritable-file`, for example if the disk is full.
   */
  written(): Promise<void> {
    if (this.#lost > 0) this.write();
    if (this.#failure) return Promise.reject(this.#failure.error);
    if (this.#written === this.#added) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ position: this.#added, resolve, reject }));
  }

  get #isCrowded(): boolean {
    return this.#failure === null && this.#added - this.#written > CHUNK;
  }

  #announceRoom(): void {
    if (this.#isCrowded) return;
    this.#makeRoom?.();
    this.#makeRoom = null;
  }

  #add(make: () => readonly OutputLine[]): void {
    if (this.#failure) return;
    const texts = make();
    const lost = this.#lost > 0 ? this.#reportLoss(this.#lost) : [];
    this.#lost = 0;
    for (const text of [...lost, ...texts]) {
      if (text === '') continue;
      this.#texts.push(text);
      this.#added += text.length;
    }
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#texts.length > 0) {
        for (const [piece, taken] of joined(this.#texts.splice(0))) {
          const writing = this.#write(piece, taken);
          if (this.stream.writableNeedDrain || piece.length > CHUNK) await writing;
        }
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#isWriting = false;
  }

  async #write(piece: string, taken: number): Promise<void> {
    try {
      await writeOut(this.stream, piece);
    } catch (error) {
      return this.#fail(error);
    }
    this.#written += taken;
    const isDone = ({ position }: Waiter) => position <= this.#written;
    for (const { resolve } of this.#waiters.filter(isDone)) resolve();
    this.#waiters = this.#waiters.filter(waiter => !isDone(waiter));
    this.#announceRoom();
  }

  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = { error };
    this.#texts = [];
    for (const { reject } of this.#waiters.splice(0)) reject(error);
    this.#announceRoom();
    for (const listener of this.#errorListeners) listener(error);
  }
}

function messagesDropped(count: number): readonly OutputLine[] {
  return [`… ${count} messages were dropped: the reader is too slow\n`];
}

/** Joins short texts. @returns pieces, each with the length of the texts that it completes */
function* joined(texts: readonly OutputLine[]): Generator<readonly [piece: string, taken: number]> {
  let piece = '';
  let taken = 0;
  for (const text of texts) {
    for (const part of typeof text === 'string' ? [text] : text) {
      if (piece.length + part.length > CHUNK) {
        yield [piece, taken];
        piece = '';
        taken = 0;
      }
      piece += part;
    }
    taken += text.length;
  }
  yield [piece, taken];
}
