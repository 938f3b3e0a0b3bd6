import type { Log } from '../../events/log.js';
import { LIMITS } from '../../util/limits.js';
import { bytesText } from '../../util/text.js';

/** Limits of the callbacks that the rules use; a tool that sends more is broken or malicious (threats, row 15). */
export const CALLBACK_LIMITS = {
  call: { callbacks: LIMITS.checkedCallbacksOfCall.value, bytes: LIMITS.checkedCallBytes.value },
  run: { callbacks: LIMITS.checkedCallbacks.value, bytes: LIMITS.checkedBytes.value },
  refused: { callbacks: LIMITS.checkedRefusals.value, bytes: LIMITS.checkedCallBytes.value },
};

/** Returns a function that counts a callback, and returns whether it is within the limits; it warns once. */
export function quota(
  log: Log,
  { callbacks, bytes }: typeof CALLBACK_LIMITS.call,
  whose: string,
  calls?: string[],
): (size: number) => boolean {
  let [count, total, hasWarned] = [0, 0, false];
  return size => {
    count++;
    total += size;
    const isWithin = count <= callbacks && total <= bytes;
    if (!isWithin && !hasWarned) {
      hasWarned = true;
      const message = `more than ${callbacks} callbacks, or ${bytesText(bytes)}, came ${whose}; the rest is ignored`;
      log.emit({ kind: 'warned', ...(calls && { calls }), message });
    }
    return isWithin;
  };
}
