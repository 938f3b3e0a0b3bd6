import type { Credentials } from '../../runtime/wire.js';

/** The headers that a user gave: for the server that was named beside them, and for no other origin (threats, row 12). */
export class Keyring {
  #origin: string | null = null;

  /** @param headers by lower-case name */
  constructor(private readonly headers: Credentials['headers']) {}

  /** They were given for this URL. */
  claim(url: string): void {
    this.#origin ??= new URL(url).origin;
  }

  credentialsFor(url: string): Credentials {
    const { origin } = new URL(url);
    return { origin, headers: origin === this.#origin ? this.headers : {} };
  }
}
