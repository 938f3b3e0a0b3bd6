import type { Addressee } from '../../protocol/read-invocation.js';

/** A wait for somebody to say that it is time. */
export interface Demand {
  readonly fired: Promise<true>;
  /** Nobody can fire it any more. */
  leave(): void;
}

interface Waiting {
  /** Of the call, in events. */
  readonly key: string;
  /** As the runtime named the call: an id is unique in its thread only. */
  readonly named: Named;
  readonly fire: () => void;
}

type Named = Pick<Addressee, 'group_id' | 'id'>;

/** What calls wait for until somebody says so: an event on demand, a consent that nobody can give through our own page. */
export class Demands {
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();

  wait(key: string, named: Named): Demand {
    let fire: () => void = () => {};
    const fired = new Promise<true>(resolve => {
      fire = () => resolve(true);
    });
    const waiting = { key, named, fire };
    this.#waiting.add(waiting);
    return { fired, leave: () => void this.#waiting.delete(waiting) };
  }

  /** Fires the oldest of each call that waits, or only of those with this id, in this thread. @returns how many were fired. */
  fire(id?: string, thread?: string): number {
    const isMeant = ({ named }: Waiting) =>
      (id === undefined || named.id === id) && (thread === undefined || named.group_id === thread);
    const oldest = new Map<string, Waiting>();
    for (const each of this.#waiting) if (isMeant(each) && !oldest.has(each.key)) oldest.set(each.key, each);
    for (const each of oldest.values()) {
      this.#waiting.delete(each);
      each.fire();
    }
    return oldest.size;
  }
}
