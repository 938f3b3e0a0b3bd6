import type { Credentials } from '../../runtime/wire.js';

/** The headers that a user gave: for the server that was named beside them, and for no other origin (threats, row 12). */
export class Keyring {
  #origin: string | null = null;

  /** @param headers by lower-case name */
  constructor(private readonly headers: Credentials['headers']) {}

  /** They were given for this URL, and for none before it: a command that is started again is somewhere else. */
  claim(url: string): void {
    this.#origin = new URL(url).origin;
  }

  /** Whoever listens there from now on is somebody else. */
  giveUp(): void {
    this.#origin = null;
  }

  /** What is lent ends with the claim. */
  credentialsFor(url: string): Credentials {
    const { origin } = new URL(url);
    const headers = () => (origin === this.#origin ? this.headers : {});
    return {
      origin,
      get headers() {
        return headers();
      },
    };
  }
}
