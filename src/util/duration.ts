import ms from 'ms';

/** The limit of the `ms` package. */
const LONGEST = 100;

const DURATION = /^\d+(?:\.\d+)?\s*(?:ms|s|m|h)?$/;

/** Parses `500ms`, `2s`, `5m`, `1h`; a bare number is milliseconds. Null if invalid. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  return trimmed.length < LONGEST && DURATION.test(trimmed) ? ms(trimmed as ms.StringValue) : null;
}
