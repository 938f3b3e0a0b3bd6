import { createHmac, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const PREFIX = '/callback/';

/**
 * One unguessable callback path per call (threats, rows 1 and 7). A path is looked up by its keyed digest, so that the
 * time a lookup takes says nothing about the tokens there are.
 */
export class CallbackAddresses {
  readonly #secret = randomBytes(TOKEN_BYTES);
  readonly #keys = new Map<string, string>();

  /** A fresh 256-bit token that stands for the call. */
  issue(key: string): { readonly token: string; readonly path: string } {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const path = PREFIX + token;
    this.#keys.set(this.#digest(path), key);
    return { token, path };
  }

  /** The key of the call whose path this is, or nothing. */
  resolve(path: string): string | undefined {
    return this.#keys.get(this.#digest(path));
  }

  #digest(path: string): string {
    return createHmac('sha256', this.#secret).update(path).digest('base64');
  }
}
