import { readRetryAfter } from '../../transport/retry-after.js';

/** Whoever asks for more patience than this gets no more (RFC 9110, 10.2.3 sets no bound). */
const LONGEST_MS = 60_000;
const UNTOLD_MS = 1_000;
const FIRST_MS = 200;

type Headers = Readonly<Record<string, string>>;

/** How long a 429 asks to wait, in ms: its `Retry-After`, a second where none can be read; null for more than a minute. */
export function busyPauseMs(headers: Headers, now: Date): number | null {
  const asked = readRetryAfter(headers['retry-after'], now) ?? UNTOLD_MS;
  return asked > LONGEST_MS ? null : asked;
}

/** The pause after so many failures in a row, from 1: 200 ms, then twice that and so on, up to 10 s. */
export function failurePauseMs(failures: number): number {
  return Math.min(10_000, FIRST_MS * 2 ** (failures - 1));
}

/** What the answer to a GET says: it is asked again after a 5xx, and after a 429 (platforms). */
export function judgeGet(status: number): 'fine' | 'again' | 'busy' | 'refused' {
  if (status === 429) return 'busy';
  if (status >= 500) return 'again';
  return status >= 200 && status < 300 ? 'fine' : 'refused';
}

/**
 * What the answer to posted results says: only a 429 is sent again as it is (platforms).
 * `finished`: nobody wants them any more. `invalid`: some of them are not pending, or not valid.
 */
export function judgePost(
  status: number,
): 'taken' | 'finished' | 'busy' | 'invalid' | 'too-large' | 'refused' {
  if (status >= 200 && status < 300) return 'taken';
  switch (status) {
    case 409:
      return 'finished';
    case 413:
      return 'too-large';
    case 422:
      return 'invalid';
    case 429:
      return 'busy';
    default:
      return 'refused';
  }
}
