import ms from 'ms';
import prettyMs from 'pretty-ms';

/** `ms` reads no longer ones. */
const LONGEST = 100;
const DURATION = /^\d+(?:\.\d+)?\s*(?:ms|s|m|h)?$/;

/** `500ms`, `2s`, `5m`, `1h`, a bare number is milliseconds. Null where it is none of these. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  return trimmed.length < LONGEST && DURATION.test(trimmed) ? ms(trimmed as ms.StringValue) : null;
}

/** For a person: `3ms`, `1.2s`, `5m 3s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 10) return `${round(milliseconds, 1)}ms`;
  if (Math.round(milliseconds) < 1000) return `${Math.round(milliseconds)}ms`;
  return prettyMs(milliseconds, { keepDecimalsOnWholeSeconds: false });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
