import type { Rules } from './rules.js';
import { secretKeys } from './secret-keys.js';
import { Secrets } from './secrets.js';
import { type Change, Shaping } from './shaping.js';
import { survey } from './survey.js';

export type { Change } from './shaping.js';

export interface MiddlewareOptions {
  /** Keys whose values are secrets; how they are written does not matter: `api_key` is `apiKey`. */
  readonly redact: readonly string[];
  /** Whether control characters other than line feeds and tabs are taken out of texts and keys. */
  readonly sanitize: boolean;
}

export interface Shaped {
  /** The value given, where nothing had to be changed; else a copy. */
  readonly value: unknown;
  readonly changes: readonly Change[];
}

/** What a reply's `payload` goes through before it is wrapped (seed 003; TOOL-SECRET). */
export interface ResponseMiddleware {
  /**
   * At any depth: the values of secret keys become `[redacted]`, and so does every text in which one of them appears again,
   * in a form in which it may be written; then also what is secret in `secretsFrom`, the arguments of the invocation, since
   * a secret that is echoed is the classic leak. Values of less than four characters are not looked for elsewhere.
   * @throws RangeError where the value is nested deeper than 128 levels, or holds itself; and where there are more secrets than
   * can be looked for: nothing is let through unseen.
   */
  shape(value: unknown, secretsFrom?: unknown): Shaped;
  /** What {@link shape} would change of a result that goes out verbatim. */
  wouldChange(value: unknown, secretsFrom?: unknown): readonly Change[];
}

export function responseMiddleware({ redact, sanitize }: MiddlewareOptions): ResponseMiddleware {
  const rules: Rules = { isSecret: secretKeys(redact), sanitize };
  const shape = (value: unknown, secretsFrom?: unknown): Shaped => {
    const secrets = new Secrets();
    const isClean = survey(value, rules, secrets); // first: what a caller sends must not crowd out what is ours
    survey(secretsFrom, rules, secrets);
    if (isClean && secrets.size === 0) return { value, changes: [] };
    const shaping = new Shaping(rules, secrets);
    const shaped = shaping.shape(value);
    return shaping.changes.length === 0
      ? { value, changes: [] }
      : { value: shaped, changes: shaping.changes };
  };
  return { shape, wouldChange: (value, secretsFrom) => shape(value, secretsFrom).changes };
}
