import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../util/limits.js';
import { announcedLength, ByteGatherer } from './body.js';
import { Denial } from './route.js';

/** Reads at most `maxBody` bytes of a request's body. Never throws: an aborted request also resolves to a denial. */
export function readBody(request: IncomingMessage, maxBody: number): Promise<Uint8Array | Denial> {
  return new Promise(resolve => {
    const gatherer = new ByteGatherer(maxBody, announcedLength(request.headers));
    const end = () => resolve(gatherer.bytes());
    const take = (chunk: Uint8Array) => {
      if (gatherer.add(chunk)) return;
      request.off('data', take).off('end', end).pause();
      gatherer.drop(); // the sender may continue for a while
      resolve(Denial.tooLarge(maxBody));
    };
    request
      .on('data', take)
      .on('end', end)
      .on('error', () =>
        resolve(new Denial(0, 'aborted', 'the sender disconnected in the middle of the body')),
      );
  });
}

/** Reads and drops the rest of a request; resolves at its end, or after `LIMITS.refusedBytes` or `ms`. */
export function drain(request: IncomingMessage, ms: number): Promise<void> {
  return new Promise(resolve => {
    const settle = () => {
      clearTimeout(timer);
      request.off('data', drop).pause();
      resolve();
    };
    let left = LIMITS.refusedBytes.value;
    const drop = (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) settle();
    };
    const timer = setTimeout(settle, ms);
    request.on('data', drop).once('close', settle).once('error', settle);
  });
}
