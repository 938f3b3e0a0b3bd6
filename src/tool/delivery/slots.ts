/** Origins remembered while nobody asks for them: one is soon asked for again. */
const REMEMBERED = 1_000;

interface Desk {
  taken: number;
  readonly waiting: (() => void)[];
}

/**
 * So many at a time for each origin, first come first served: who is slow or silent holds up only those who ask for the same.
 * Where a slot is free, work begins at once and costs next to nothing.
 */
export class Slots {
  readonly #desks = new Map<string, Desk>();

  constructor(private readonly perOrigin: number) {}

  /** Null where a slot was free, and is taken now; else resolves once it is. */
  take(origin: string): Promise<void> | null {
    const desk = this.#deskOf(origin);
    if (desk.taken >= this.perOrigin) return new Promise(resolve => desk.waiting.push(resolve));
    desk.taken++;
    return null;
  }

  /** Gives a slot that was taken to the next who waits for it. */
  leave(origin: string): void {
    const desk = this.#deskOf(origin);
    const next = desk.waiting.shift();
    if (next) next();
    else desk.taken--;
  }

  #deskOf(origin: string): Desk {
    const known = this.#desks.get(origin);
    if (known) return known;
    if (this.#desks.size >= REMEMBERED) this.#forgetIdle();
    const desk = { taken: 0, waiting: [] };
    this.#desks.set(origin, desk);
    return desk;
  }

  #forgetIdle(): void {
    for (const [origin, { taken }] of this.#desks) if (taken === 0) this.#desks.delete(origin);
  }
}
