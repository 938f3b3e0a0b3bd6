import type { IncomingMessage } from 'node:http';
import { announcedLength, ByteGatherer } from './byte-gatherer.js';
import { bodyTooLarge, Denial } from './refusal.js';

/** Of each body so many bytes are not counted, so that small ones are served beside the largest. */
const FREE = 64 * 1024;

/** What one request takes of the bytes that there are for all bodies that a server is reading or working on (threats, row 15). */
export class BodyShare {
  #size = 0;
  #counted = 0;

  constructor(private readonly budget: { bytes: number }) {}

  /** Whether there is room for so many bytes more. */
  take(bytes: number): boolean {
    this.#size += bytes;
    const more = Math.max(0, this.#size - FREE) - this.#counted;
    if (more > this.budget.bytes) return false;
    this.#counted += more;
    this.budget.bytes -= more;
    return true;
  }

  release(): void {
    this.budget.bytes += this.#counted;
    this.#counted = 0;
  }
}

/** Reads a request's body as it comes, at most `maxBody` bytes of it. Never throws: a sender that gave up is a denial too. */
export function readBody(
  request: IncomingMessage,
  maxBody: number,
  share: BodyShare,
): Promise<Uint8Array | Denial> {
  return new Promise(resolve => {
    const gatherer = new ByteGatherer(maxBody, announcedLength(request.headers));
    const take = (chunk: Uint8Array) => {
      const hasRoom = share.take(chunk.length);
      if (hasRoom && gatherer.add(chunk)) return;
      request.off('data', take).pause();
      share.release(); // what was gathered is dropped now, though its sender may go on for a while
      resolve(hasRoom ? bodyTooLarge(maxBody) : TOO_MANY);
    };
    request
      .on('data', take)
      .on('end', () => resolve(gatherer.bytes()))
      .on('error', () => resolve(new Denial(0, 'aborted', 'its sender went away in the middle of the body')));
  });
}

const TOO_MANY = new Denial(503, 'busy', 'the bodies of all requests are too large together', {
  'Retry-After': '1',
});

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
}

/** Lets a sender finish what nobody will read; settles at its end, or when it has had `bytes` or `ms` enough. */
export function drain(request: IncomingMessage, { bytes, ms }: { bytes: number; ms: number }): Promise<void> {
  return new Promise(resolve => {
    const settle = () => {
      clearTimeout(timer);
      request.off('data', drop).pause();
      resolve();
    };
    let left = bytes;
    const drop = (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) settle();
    };
    const timer = setTimeout(settle, ms);
    request.on('data', drop).once('close', settle).once('error', settle);
  });
}
