import type { IncomingMessage } from 'node:http';
import { announcedLength, ByteGatherer } from './byte-gatherer.js';
import { bodyTooLarge, Denial } from './refusal.js';

/** Reads a request's body as it comes, at most `maxBody` bytes of it. Never throws: a sender that gave up is a denial too. */
export function readBody(request: IncomingMessage, maxBody: number): Promise<Uint8Array | Denial> {
  return new Promise(resolve => {
    const gatherer = new ByteGatherer(maxBody, announcedLength(request.headers));
    const take = (chunk: Uint8Array) => {
      if (gatherer.add(chunk)) return;
      request.off('data', take).pause();
      resolve(bodyTooLarge(maxBody));
    };
    request
      .on('data', take)
      .on('end', () => resolve(gatherer.bytes()))
      .on('error', () => resolve(new Denial(0, 'aborted', 'its sender went away in the middle of the body')));
  });
}

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
