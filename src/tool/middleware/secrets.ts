import { REDACTED, writtenForms } from '../../text/redact.js';
import { withoutControls } from './controls.js';

/** Shorter ones are no secrets, and too common to take out. */
const SHORTEST = 4;
const CREDENTIALS = /^(?:basic|bearer|digest|token) +(\S+)$/i;

/** The secrets of one message: whatever stands at or below a key that has them. */
export class Secrets {
  readonly #known = new Set<string>();

  get size(): number {
    return this.#known.size;
  }

  /** Of `Bearer x`, `x` alone is a secret too. */
  add(secret: string): void {
    if (secret === REDACTED) return;
    const [, credentials = ''] = CREDENTIALS.exec(secret) ?? [];
    for (const each of [secret, credentials]) if (each.length >= SHORTEST) this.#known.add(each);
  }

  has(text: string): boolean {
    return this.#known.has(text);
  }

  /** What to look for in texts: each secret as it is, and in the forms that it may be written in; those first that were added first. */
  *forms(): Iterable<string> {
    for (const secret of this.#known)
      for (const form of new Set([secret, withoutControls(secret), ...writtenForms(secret)]))
        if (form.length >= SHORTEST) yield form;
  }
}
