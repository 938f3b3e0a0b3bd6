import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { wholeCharacters } from '../util/text.js';

const CHUNK = 64 * 1024;

const quiet = new WeakSet<NodeJS.WritableStream>();

const closed = new WeakSet<NodeJS.WritableStream>();

/** Whether the reader of a stream has closed it, such as `head -1` or a closed terminal. */
export function isClosed(stream: NodeJS.WritableStream): boolean {
  return closed.has(stream);
}

/** Ignores a closed reader (threats, row 30). Any other error is thrown as `unwritable-file`, unless there is another listener. */
export function quietPipes(...streams: readonly NodeJS.WritableStream[]): void {
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
  quietPipes(stream);
  for (let from = 0; from < data.length && !isClosed(stream); ) {
    const to = typeof data === 'string' ? wholeCharacters(data, from + CHUNK) : from + CHUNK;
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
