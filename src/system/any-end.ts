import { beforeForcedEnd } from './forced-end.js';

/** Work that is due however this process ends: by itself, or by force. It may be called more than once. Returns how to take it back. */
export function beforeAnyEnd(duty: () => void): () => void {
  const forget = beforeForcedEnd(duty);
  process.once('exit', duty);
  return () => {
    forget();
    process.off('exit', duty);
  };
}
