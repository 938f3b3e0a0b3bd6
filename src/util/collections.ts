interface StoreLimits {
  readonly count: number;
  /** Maximum size of all values together; the latest value stays even if it is larger. */
  readonly size: number;
}

interface Entry<Value> {
  value: Value;
  size: number;
}

/** A map that drops its oldest entries beyond a number of entries or a total size. */
export class BoundedStore<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>();
  /** Reused between drops: a new iterator would step over all deleted entries. */
  readonly #oldest = this.#entries.keys();
  #total = 0;

  constructor(
    private readonly limits: StoreLimits,
    private readonly onDrop?: (value: Value) => void,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  sizeOf(key: Key): number {
    return this.#entries.get(key)?.size ?? 0;
  }

  /** An existing key keeps its position. */
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

  #dropOldest(): void {
    const { value: key } = this.#oldest.next();
    const entry = key === undefined ? undefined : this.#entries.get(key);
    if (key === undefined || !entry) return;
    this.#total -= entry.size;
    this.#entries.delete(key);
    this.onDrop?.(entry.value);
  }
}

/**
 * A map of the latest entries: at least `count`, at most twice as many. It drops the older of two generations at once, since deleting
 * the oldest entries of a Map one by one becomes slow.
 */
export class RecentMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(private readonly count: number) {}

  get(key: K): V | undefined {
    const latest = this.#young.get(key);
    return latest === undefined ? this.#old.get(key) : latest;
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.count) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Returns the value of a key and creates it if missing; moves the key to the newest generation. */
  of(key: K, make: () => V): V {
    const value = this.get(key) ?? make();
    this.set(key, value);
    return value;
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** The latest value of each key, older generation first. */
  *values(): Generator<V> {
    for (const [key, value] of this.#old) if (!this.#young.has(key)) yield value;
    yield* this.#young.values();
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}

export class Memo<Value> {
  #kept: { readonly from: readonly unknown[]; readonly value: Value } | null = null;

  of(from: readonly unknown[], make: () => Value): Value {
    if (!this.#kept || !isSame(this.#kept.from, from)) this.#kept = { from, value: make() };
    return this.#kept.value;
  }
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((each, index) => Object.is(each, now[index]));
}

/** The last index whose number is at most `value`, or -1; the numbers must be ascending. */
export function lastIndexUpTo(ascending: ArrayLike<number>, value: number): number {
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ascending[middle] ?? 0) <= value) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

const REMEMBERED = 1_000;

const MAX_LENGTH = 256;

/**
 * Caches a pure function of strings in bounded memory.
 * @param judge must not return `undefined`
 */
export function memoizeByString<T>(judge: (word: string) => T): (word: string) => T {
  const known = new RecentMap<string, T>(REMEMBERED);
  return word => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const judged = judge(word);
    if (word.length <= MAX_LENGTH) known.set(word, judged);
    return judged;
  };
}

/** Caches a function of objects as long as they live; frames read the same values repeatedly. */
export function memoizeByObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return key => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}

/** Groups the items by each of their keys, in order. */
export function groupBy<T, Key>(items: Iterable<T>, keysOf: (item: T) => Iterable<Key>): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items)
    for (const key of keysOf(item)) {
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
  return groups;
}

/** Processes all items in order, with limited concurrency. */
export async function forEachConcurrently<T>(
  all: readonly T[],
  concurrency: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const waiting = all.values();
  const worker = async () => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** The number of findings, and the first hundred. */
export interface Findings<T> {
  readonly count: number;
  readonly examples: readonly T[];
}

const SHOWN = 100;

export class FindingsCollector<T> {
  #count = 0;
  readonly #examples: T[] = [];

  add(example: T): void {
    this.#count++;
    if (this.#examples.length < SHOWN) this.#examples.push(example);
  }

  /** The findings including `more`, which is not stored. */
  with(more: readonly T[] = []): Findings<T> {
    return {
      count: this.#count + more.length,
      examples: [...this.#examples, ...more.slice(0, Math.max(0, SHOWN - this.#examples.length))],
    };
  }
}
