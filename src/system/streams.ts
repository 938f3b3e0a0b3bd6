import { errnoOf, ProtocolCliError } from '../util/errors.js';
import type { OutputLine } from '../util/redact.js';
import { codePointEnd } from '../util/text.js';

const CHUNK = 64 * 1024;

const quiet = new WeakSet<NodeJS.WritableStream>();

const closed = new WeakSet<NodeJS.WritableStream>();

/** Whether the reader of a stream has closed it, such as `head -1` or a closed terminal. */
export function isClosed(stream: NodeJS.WritableStream): boolean {
  return closed.has(stream);
}

/** Ignores a closed reader (threats, row 30). Any other error is thrown as `unwritable-file`, unless there is another listener. */
export function ignoreClosedPipes(...streams: readonly NodeJS.WritableStream[]): void {
  for (const stream of streams) {
    if (quiet.has(stream)) continue;
    quiet.add(stream);
    stream.on('error', error => {
      if (!endsQuietly(stream, error) && stream.listenerCount('error') === 1) throw unwritable(error);
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

function writePiece(stream: NodeJS.WritableStream, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const listened = () => {};
    stream.once('error', listened); // the same error is also emitted as an event later
    stream.write(piece, error => {
      if (!error) stream.off('error', listened);
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

/** Maximum number of characters waiting for a slow reader. */
const MAX_WAITING = 64 * 1024 * 1024;

/**
 * Writes texts in order, as fast as the reader allows. Producers cannot wait, so texts that would fill the memory are dropped; their number
 * is reported when there is room again (threats, row 30).
 */
export class BoundedOutput {
  #texts: OutputLine[] = [];
  #waiting = 0;
  #lost = 0;
  #isWriting = false;
  #isScheduled = false;
  /** The output cannot be written. */
  #isBroken = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly stdout: NodeJS.WritableStream,
    private readonly max = MAX_WAITING,
  ) {}

  /** Returns texts that report how many were dropped. */
  lost = (count: number): readonly OutputLine[] => [
    `… ${count} events were dropped: the reader of stdout is too slow\n`,
  ];

  /** Called if the output cannot be written or a text cannot be made; `written()` then rejects, and no more is made or written. */
  onError: (error: unknown) => void = () => {};

  /** Writes texts that are never dropped, after the report of dropped ones. */
  write(...texts: readonly OutputLine[]): void {
    this.#add(() => texts);
  }

  /** Makes and writes all of these texts, or none. */
  news(make: () => readonly OutputLine[]): void {
    if (this.#waiting > this.max) this.#lost++;
    else this.#add(make);
  }

  /**
   * Resolves once all texts so far, and the number of dropped ones, are written.
   * @throws ProtocolCliError `unwritable-file`, for example if the disk is full.
   */
  written(): Promise<void> {
    if (this.#lost > 0) this.write();
    return this.#writing;
  }

  #add(make: () => readonly OutputLine[]): void {
    if (this.#isBroken) return;
    const texts = make();
    const lost = this.#lost > 0 ? this.lost(this.#lost) : [];
    this.#lost = 0;
    for (const text of [...lost, ...texts].filter(text => text !== '')) {
      this.#texts.push(text);
      this.#waiting += text.length;
    }
    // A scheduled batch takes these texts too.
    if (this.#isScheduled || this.#texts.length === 0) return;
    this.#isScheduled = true;
    this.#writing = this.#isWriting ? this.#writing.then(() => this.#writeBatch()) : this.#writeBatch();
    this.#writing.catch(() => {}); // `written()` rejects
  }

  async #writeBatch(): Promise<void> {
    this.#isScheduled = false;
    this.#isWriting = true;
    try {
      for (const [piece, taken] of joined(this.#texts.splice(0))) {
        await writeOut(this.stdout, piece);
        this.#waiting -= taken;
      }
    } catch (error) {
      this.#isBroken = true;
      this.#texts = [];
      this.onError(error);
      throw error;
    }
    this.#isWriting = false;
  }
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
