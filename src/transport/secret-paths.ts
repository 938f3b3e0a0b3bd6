import { createHmac, randomBytes } from 'node:crypto';
import { RecentMap } from '../text/recent-map.js';

const TOKEN_BYTES = 32;

/**
 * Unguessable paths, each of which stands for something (threats, rows 1 and 7). A path is looked up by its keyed digest, so
 * that the time a lookup takes says nothing about the tokens there are.
 */
export class SecretPaths<T> {
  readonly #secret = randomBytes(TOKEN_BYTES);
  readonly #meanings: RecentMap<string, T>;

  /**
   * @param prefix of every path, such as `/callback/`.
   * @param most so many are remembered at least; all unless told, for whoever forgets them himself.
   */
  constructor(
    private readonly prefix: string,
    most = Number.POSITIVE_INFINITY,
  ) {
    this.#meanings = new RecentMap(most);
  }

  /** A fresh path with a 256-bit token; it stands for `meaning` until it is forgotten. */
  issue(meaning: T): { readonly token: string; readonly path: string } {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const path = this.prefix + token;
    this.#meanings.set(this.#digest(path), meaning);
    return { token, path };
  }

  /** What a path stands for, or nothing. */
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
