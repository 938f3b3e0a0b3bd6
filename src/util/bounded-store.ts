interface StoreLimits {
  readonly count: number;
  /** Of all values together; the latest value stays even when it is larger. */
  readonly size: number;
}

interface Entry<Value> {
  value: Value;
  size: number;
}

/** A map that drops its oldest entries beyond a number of entries or a total size. */
export class BoundedStore<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>();
  /** Kept between drops: a new iterator would step over every entry deleted before. */
  #oldest = this.#entries.keys();
  #total = 0;
  #dropped = 0;

  constructor(private readonly limits: StoreLimits) {}

  get size(): number {
    return this.#entries.size;
  }

  /** The number of dropped entries. */
  get dropped(): number {
    return this.#dropped;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  sizeOf(key: Key): number {
    return this.#entries.get(key)?.size ?? 0;
  }

  /** A known key keeps its place in the order. */
  set(key: Key, value: Value, size: number): void {
    const entry = this.#entries.get(key);
    this.#total += size - (entry?.size ?? 0);
    if (entry) Object.assign(entry, { value, size });
    else this.#entries.set(key, { value, size });
    const { limits } = this;
    while (this.size > 1 && (this.size > limits.count || this.#total > limits.size)) this.#dropOldest();
  }

  /** Oldest first. */
  values(): Value[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#entries.keys();
    this.#total = 0;
    this.#dropped = 0;
  }

  #dropOldest(): void {
    const { value: key } = this.#oldest.next();
    if (key === undefined) return;
    this.#total -= this.sizeOf(key);
    this.#entries.delete(key);
    this.#dropped++;
  }
}
