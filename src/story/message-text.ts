import type { Content } from '../exchange/content.js';
import type { Event, RequestEvent, ResponseEvent } from '../exchange/events.js';
import { shareableText, shareableUrl, withoutPowerInText } from '../exchange/shareable.js';
import { bytesText } from '../text/bytes-text.js';
import { decodeUtf8 } from '../text/json.js';
import { type Redactor, redactHeaders } from '../text/redact.js';

/** The head of a message, secrets out: its first line, then its fields. Foreign words, not made visible yet. */
export function headText(
  event: RequestEvent | ResponseEvent,
  redactor: Redactor,
): readonly [string, ...string[]] {
  const first =
    event.kind === 'request' ? `${event.method} ${shareableUrl(event, redactor)}` : String(event.status);
  const fields = Object.entries(redactHeaders(event.headers, redactor)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [first, ...fields];
}

/** Its body, secrets out; of bytes that are no text, how many they are, and nothing where there are none. */
export function bodyText(body: Content | undefined, redactor: Redactor): string | null {
  if (!body || body.size === 0) return null;
  return shareableText(body, redactor) ?? `(${bytesText(body.size)} that are not UTF-8)`;
}

/** Of a larger body only its beginning is looked at. */
const LARGE = 64 * 1024;

/** As much of a body as a person reads, secrets out; null where it is no text. What is shown of it must stay well below 64 Ki. */
export function beginningText(body: Content, redactor: Redactor): string | null {
  if (body.size <= LARGE) return shareableText(body, redactor);
  const text = decodeUtf8(body.bytes);
  return text === null ? null : redactor.text(withoutPowerInText(text.slice(0, LARGE)));
}

/** Why there is no answer. */
export function breakText({ code, phase }: Extract<Event, { kind: 'broken' }>): string {
  return `not answered: ${code} (${phase})`;
}
