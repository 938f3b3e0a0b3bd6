/**
 * Names the calls of a session, in their order: each by its id, or `#1`, `#2` … without one. A name that comes again gets a number:
 * `xml_0 (2)`.
 */
export class SessionCallKeys {
  readonly #used = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** @param id empty for a call without one */
  next(id: string): string {
    for (;;) {
      const count = (this.#counts.get(id) ?? 0) + 1;
      this.#counts.set(id, count);
      const key = id === '' ? `#${count}` : count === 1 ? id : `${id} (${count})`;
      if (this.#used.has(key)) continue;
      this.#used.add(key);
      return key;
    }
  }
}
