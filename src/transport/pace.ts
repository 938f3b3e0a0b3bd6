import { setTimeout as sleep } from 'node:timers/promises';

/** How slowly a body is sent: `bytes` at a time, with a pause of `everyMs` after each. */
export interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** The body in pieces, as they fall due. */
export async function* drip(body: Uint8Array, { bytes, everyMs }: Pace): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < body.length; sent += bytes) {
    if (sent > 0) await sleep(everyMs);
    yield body.subarray(sent, sent + bytes);
  }
}
