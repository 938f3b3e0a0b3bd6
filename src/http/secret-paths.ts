import { createHmac, randomBytes } from 'node:crypto';
import { RecentMap } from '../util/collections.js';

const TOKEN_BYTES = 32;

/**
 * Unguessable paths, each with a value (threats, rows 1 and 7). Lookups use a keyed digest of the path, so their timing reveals
 * nothing about existing tokens.
 */
export class SecretPaths<T> {
  readonly #secret = randomBytes(TOKEN_BYTES);
  readonly #meanings: RecentMap<string, T>;

  /**
   * @param prefix of every path, such as `/callback/`.
   * @param most minimum number of paths kept; default: all, until {@link forget}.
   */
  constructor(
    private readonly prefix: string,
    most = Number.POSITIVE_INFINITY,
  ) {
    this.#meanings = new RecentMap(most);
  }

  /** Creates a path with a 256-bit token for `meaning`. */
  issue(meaning: T): { readonly token: string; readonly path: string } {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const path = this.prefix + token;
    this.#meanings.set(this.#digest(path), meaning);
    return { token, path };
  }

  resolve(path: string): T | undefined {
    return path.startsWith(this.prefix) ? this.#meanings.get(this.#digest(path)) : undefined;
  }

  forget(path: string): void {
    this.#meanings.delete(this.#digest(path));
  }

  #digest(path: string): string {
    return createHmac('sha256', this.#secret).update(path).digest('base64');
  }
}
