/** Names for the members of an object whose keys change: two that become the same, as tokens used as keys do, stay two. */
export class Names {
  readonly #next = new Map<string, number>();

  constructor(private readonly original: object) {}

  /** `name`, or `name 2`, `name 3` … where that is taken. A key that did not change keeps its own. */
  take(name: string): string {
    for (let number = this.#next.get(name) ?? 1; ; number++) {
      const free = number === 1 ? name : `${name} ${number}`;
      if (Object.hasOwn(this.original, free)) continue;
      this.#next.set(name, number + 1);
      return free;
    }
  }
}
