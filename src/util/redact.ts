import { SecretFinder, type Span } from './secret-finder.js';

export const REDACTED = '[redacted]';

/**
 * Replaces secrets by value (threats, row 25).
 * @example
 * const clean = (redactor: Redactor, line: string) => redactor.text(line);
 */
export interface Redactor {
  /** Adds a secret; one shorter than four characters is ignored. */
  add(secret: string): void;
  /** Returns the text with `[redacted]` in place of secrets. */
  text(text: string): string;
  /** Redacts the name of a JSON member; default: `text`. */
  name?(text: string): string;
}

/**
 * Creates a redactor, which finds secrets in every encoding that occurs on a wire: JSON, percent, hex, base64.
 * @example
 * createRedactor(['my-token']).text('Authorization: Bearer my-token'); // Authorization: Bearer [redacted]
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const finder = new SecretFinder();
  for (const secret of secrets) finder.add(secret);
  return { add: secret => finder.add(secret), text: text => redactSpans(text, finder.find(text)) };
}

/** Replaces parts of a text, which are in order and do not overlap. */
export function redactSpans(text: string, spans: readonly Span[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to } of spans) {
    pieces.push(text.slice(done, from), REDACTED);
    done = to;
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}
