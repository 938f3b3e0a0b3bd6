import type { Schema } from './resolved.js';

/** Characters: a schema may demand more than anybody wants to send. */
const MOST = 10_000;

const BY_FORMAT: ReadonlyMap<unknown, string> = new Map([
  ['date-time', '2025-01-01T12:00:00Z'],
  ['date', '2025-01-01'],
  ['time', '12:00:00Z'],
  ['duration', 'PT1H'],
  ['email', 'someone@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['uri-reference', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
]);

/** @param word where no format says what to take */
export function exampleString(schema: Schema, word: string): string {
  const { format, minLength, maxLength } = schema;
  const text = BY_FORMAT.get(format) ?? word;
  const least = typeof minLength === 'number' ? Math.min(minLength, MOST) : 0;
  const most = typeof maxLength === 'number' ? maxLength : MOST;
  return text.padEnd(least, text || 'x').slice(0, most);
}
