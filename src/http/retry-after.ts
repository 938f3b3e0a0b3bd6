const SECONDS = /^\d+$/;

/** RFC 9110, 5.6.7: the current format and the two obsolete ones, which have no time zone. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** Returns the `Retry-After` delay in ms (RFC 9110, 10.2.3); null if missing or invalid. */
export function retryAfterMs(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return null;
  const due = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(due) ? null : Math.max(0, due - now.getTime());
}
