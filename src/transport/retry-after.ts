const SECONDS = /^\d+$/;
/** RFC 9110, 5.6.7: today's form and the two old ones, which do not name their zone. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** `Retry-After` in ms from now (RFC 9110, 10.2.3); 0 where there is none, or none that can be read. */
export function retryAfterMs(value: string | undefined, now: Date): number {
  return readRetryAfter(value, now) ?? 0;
}

/** As {@link retryAfterMs}; null where there is none, or none that can be read. */
export function readRetryAfter(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return null;
  const due = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(due) ? null : Math.max(0, due - now.getTime());
}
