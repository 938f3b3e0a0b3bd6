import type { CalledAs } from './as-command.js';
import type { Manners } from './manners.js';
import type { Offer } from './shelf.js';

interface Entry {
  /** Id of the server that it was meant for, be it denied. */
  readonly server: string;
  /** What it was sent to; null of what was denied. */
  readonly offer: Offer | null;
  /** Not where the arguments went out as they were. */
  readonly isValidated: boolean;
}

/**
 * What is known of the calls of a session besides what was seen of them, as long as the book has them: a late result may still open a
 * subscription, which can be given up.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly manners: Pick<Manners, 'groupId'>) {}

  denied(key: string, server: string): void {
    this.#entries.set(key, { server, offer: null, isValidated: true });
  }

  sent(key: string, server: string, offer: Offer, isValidated: boolean): void {
    this.#entries.set(key, { server, offer, isValidated });
  }

  /** Each that was sent. */
  *offers(): Iterable<readonly [key: string, offer: Offer]> {
    for (const [key, { offer }] of this.#entries) if (offer) yield [key, offer];
  }

  /** Null of what was not sent. */
  offerOf(key: string): Offer | null {
    return this.#entries.get(key)?.offer ?? null;
  }

  /** Null of what is no call of this session. */
  serverOf(key: string): string | null {
    return this.#entries.get(key)?.server ?? null;
  }

  isUnvalidated(key: string): boolean {
    return this.#entries.get(key)?.isValidated === false;
  }

  /** Null of what was not sent. */
  calledAs(key: string): CalledAs | null {
    const entry = this.#entries.get(key);
    if (!entry?.offer) return null;
    return { target: entry.offer.target, groupId: this.manners.groupId, validates: entry.isValidated };
  }
}
