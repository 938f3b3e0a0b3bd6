/**
 * The latest entries: at least `count` of them, and at most twice as many. Two generations, of which the elder is dropped whole:
 * to delete the oldest of a Map one by one gets slow, since each time it steps over all that were deleted before.
 */
export class RecentMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(private readonly count: number) {}

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.count) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** The latest of each key; those of the elder generation come first. */
  *values(): Generator<V> {
    for (const [key, value] of this.#old) if (!this.#young.has(key)) yield value;
    yield* this.#young.values();
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
