import { isDeepStrictEqual } from 'node:util';
import { Content } from '../../events/content.js';
import { createRedactor } from '../../util/redact.js';
import { isRecord } from '../../util/values.js';

/** Returns a function that redacts the key in any value: a platform may echo it in a call or a message (threats, row 25). */
export function createKeyRedactor(key: string): <T>(value: T) => T {
  const { text: clean } = createRedactor([key]);
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return clean(value);
    if (Array.isArray(value)) return value.map(redact);
    if (value instanceof Content) {
      const text = Buffer.from(value.bytes).toString('utf8');
      const cleaned = clean(text);
      return cleaned === text ? value : new Content(Buffer.from(cleaned));
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [clean(name), redact(each)]));
  };
  const isSecret = clean(key) !== key; // keys that are too short are not redacted
  return value => {
    const redacted = isSecret ? redact(value) : value;
    return isDeepStrictEqual(redacted, value) ? value : (redacted as typeof value);
  };
}
