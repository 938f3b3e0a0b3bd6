import type { Leg } from './leg.js';

/** Given up by us, at once or when our time was over; cut by whoever was asked; `failed`: nobody reached, or nothing that can be read. */
export type Break = 'called-off' | 'timed-out' | 'cut' | 'failed';

/** How a request ended that was not answered; null where it did not break. */
export function breakOf({ broken }: Pick<Leg, 'broken'>): Break | null {
  if (!broken) return null;
  if (broken.code === 'ABORTED') return 'called-off';
  if (TIMED_OUT.test(broken.code)) return 'timed-out';
  return CUT.has(broken.code) && broken.phase !== 'connect' ? 'cut' : 'failed';
}

const TIMED_OUT = /^(?:ETIMEDOUT|UND_ERR_[A-Z]+_TIMEOUT)$/;
/** Only these are somebody's doing: what else there is may be ours. */
const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
