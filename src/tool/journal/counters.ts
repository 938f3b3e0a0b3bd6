import { RecentMap } from '../../text/recent-map.js';
import type { Matched } from './recovery.js';

const REMEMBERED_KEYS = 100_000;

/** The facts that counts and states of fixtures follow from: the latest of each fixture and key, and of each state. */
export class Counters {
  readonly #counts = new RecentMap<string, Map<string | null, Matched>>(REMEMBERED_KEYS);
  readonly #states = new RecentMap<string, Matched>(REMEMBERED_KEYS);
  /** In which order they came: a file of two runs has the same `seq` twice. */
  readonly #order = new WeakMap<Matched, number>();
  #next = 0;

  take(matched: Matched): void {
    const { fixture, key, state } = matched;
    this.#order.set(matched, this.#next++);
    if (state) this.#states.set(state.key, matched);
    if (key === undefined) return;
    const counts = this.#counts.get(key) ?? new Map<string | null, Matched>();
    counts.set(fixture, matched);
    this.#counts.set(key, counts);
  }

  reset(key: string): void {
    this.#counts.delete(key);
    this.#states.delete(key);
  }

  clear(): void {
    this.#counts.clear();
    this.#states.clear();
  }

  /** In the order in which they came. */
  facts(): Matched[] {
    const counts = [...this.#counts.values()].flatMap(of => [...of.values()]);
    const facts = [...new Set([...counts, ...this.#states.values()])];
    return facts.sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0));
  }
}
