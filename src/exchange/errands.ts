import type { RequestEvent } from './events.js';

/** A request that belongs to no call's own story: discovery, a notice, a POST to an address that is nobody's. */
export interface Errand {
  readonly leg: string;
  readonly purpose: RequestEvent['purpose'];
  readonly method: string;
  readonly url: string;
  /** Keys of the calls concerned. */
  readonly calls: readonly string[];
  /** Of a notice to a thread. */
  readonly thread?: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  readonly broken?: string;
  readonly refusal?: string;
}

/** What became of an errand. */
export type ErrandEnd = Pick<Errand, 'endedAt' | 'status' | 'broken' | 'refusal'>;

/**
 * A guesser may go on for days: the first posts say what is wrong. So may a tool that asks: the latest of its call's are told of, or of
 * its thread's.
 */
const MOST = { strays: 500, ofOne: 200 };

/** Errands by their leg, oldest first, and by whose they are. Of very many only some are kept. */
export class Errands {
  readonly #byLeg = new Map<string, Errand>();
  readonly #legsOf = new Map<string, string[]>();
  readonly #surplus = new Set<string>();
  #strays = 0;
  #forgotten = 0;
  #misdirected = 0;
  /** Told of, and no more to be kept. */
  #told: string | null = null;

  get size(): number {
    return this.#byLeg.size;
  }

  /** How many posts to a wrong address are not kept any more. */
  get misdirected(): number {
    return this.#misdirected;
  }

  /** How many others are not kept any more. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Whether anything was posted to the listener that was no call's. */
  get hasStrays(): boolean {
    return this.#strays > 0;
  }

  get(leg: string): Errand | undefined {
    return this.#byLeg.get(leg);
  }

  values(): IterableIterator<Errand> {
    return this.#byLeg.values();
  }

  ofCall(key: string): Errand[] {
    return this.#of(ofCall(key));
  }

  /** Of a thread as a whole, and of none of its calls. */
  ofThread(id: string): Errand[] {
    return this.#of(ofThread(id));
  }

  begin(errand: Errand): void {
    this.#byLeg.set(errand.leg, errand);
    if (errand.purpose === 'callback') this.#countStray(errand.leg);
    else this.#index(errand);
  }

  /** What is one too many can be looked up until the next event: see {@link forgetTold}. */
  end(leg: string, end: ErrandEnd): void {
    const known = this.#byLeg.get(leg);
    if (!known) return;
    this.#byLeg.set(leg, { ...known, ...end });
    if (this.#surplus.delete(leg)) this.#told = leg;
  }

  /** To be called before each event. */
  forgetTold(): void {
    if (this.#told !== null) this.#forget(this.#told);
    this.#told = null;
  }

  #countStray(leg: string): void {
    if (this.#strays >= MOST.strays) this.#surplus.add(leg);
    else this.#strays++;
  }

  #index(errand: Errand): void {
    const owner = ownerOf(errand);
    const legs = this.#legsOf.get(owner) ?? [];
    this.#legsOf.set(owner, legs);
    const oldest = legs.push(errand.leg) > MOST.ofOne ? legs.shift() : undefined;
    if (oldest !== undefined) this.#forget(oldest);
  }

  #of(owner: string): Errand[] {
    return (this.#legsOf.get(owner) ?? []).flatMap(leg => this.#byLeg.get(leg) ?? []);
  }

  #forget(leg: string): void {
    if (this.#byLeg.get(leg)?.refusal === 'wrong-address') this.#misdirected++;
    else this.#forgotten++;
    this.#byLeg.delete(leg);
  }
}

const ofCall = (key: string) => `call ${key}`;
const ofThread = (id: string) => `thread ${id}`;

function ownerOf({ calls: [key], thread }: Errand): string {
  if (key !== undefined) return ofCall(key);
  return thread === undefined ? '' : ofThread(thread);
}
