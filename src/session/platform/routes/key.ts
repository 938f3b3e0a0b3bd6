import { createHash, timingSafeEqual } from 'node:crypto';
import type { Head } from '../../../transport/server.js';

/** Whether a request shows the key as `Authorization: Bearer …`; compared in constant time. */
export function keyCheck(key: string): (incoming: Pick<Head, 'headers'>) => boolean {
  const wanted = digest(key);
  return ({ headers: { authorization = '' } }) => {
    const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(shown), wanted);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
