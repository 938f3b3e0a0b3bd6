import { createHmac, randomBytes } from 'node:crypto';
import { RecentMap } from '../util/collections.js';

const TOKEN_BYTES = 32;

/**
 * Unguessable paths with a value each (threats, rows 1 and 7). Paths are looked up by their keyed digest, so that the time of a
 * lookup reveals nothing about existing tokens.
 */
export class SecretPaths<T> {
  readonly #secret = randomBytes(TOKEN_BYTES);
  readonly #meanings: RecentMap<string, T>;

  /**
   * @param prefix of every path, such as `/callback/`.
   * @param most number of paths kept at least; default: all, until {@link forget}.
   */
  constructor(
    private readonly prefix: string,
    most = Number.POSITIVE_INFINITY,
  ) {
    this.#meanings = new RecentMap(most);
  }

  /** A new path with a 256-bit token for `meaning`. */
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
