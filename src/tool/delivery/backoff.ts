const FIRST_PAUSE_MS = 200;

/** What decides how long to wait before the next attempt. */
export interface Waiting {
  /** How many attempts have failed so far; from 1. */
  readonly failures: number;
  /** The `Retry-After` of the answer, where it had one. */
  readonly retryAfter?: string | undefined;
}

/**
 * The pause in ms before the next attempt: full jitter, so that many that failed together do not come back together, and not
 * before the time that was asked for; `maxMs` bounds both (TOOL-RETRY).
 * @param random uniform in [0, 1).
 */
export function pauseMs({ failures, retryAfter }: Waiting, random: number, maxMs: number, now: Date): number {
  const jittered = random * Math.min(maxMs, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.min(maxMs, Math.max(jittered, retryAfterMs(retryAfter, now)));
}

const SECONDS = /^\d+$/;
/** RFC 9110, 5.6.7: today's form and the two old ones, which do not name their zone. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** `Retry-After` in ms from now (RFC 9110, 10.2.3); 0 where there is none, or none that can be read. */
export function retryAfterMs(value: string | undefined, now: Date): number {
  const text = value?.trim() ?? '';
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return 0;
  const due = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(due) ? 0 : Math.max(0, due - now.getTime());
}
