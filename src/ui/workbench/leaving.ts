import type { Notice } from '../notices.js';
import type { Desk } from './desk.js';

/** Whoever was warned presses one of them once more; any other key takes the first back. */
const LEAVES: ReadonlySet<string> = new Set(['q', 'ctrl+c']);

/** What is pending would be cancelled: that is said first, and holds for as long as it is to be read, and for as many calls. */
export class Leaving {
  #warning: { readonly count: number; readonly notice: Notice } | null = null;

  constructor(private readonly desk: Desk) {}

  quit(): void {
    const { world, controls } = this.desk;
    const count = world.volumes[0]?.book.underWay.size ?? 0;
    if (count === 0 || (this.#stands && this.#warning?.count === count)) controls.quit();
    else this.#warn(count);
  }

  /** @param name of a key */
  pressed(name: string): void {
    if (this.#stands && !LEAVES.has(name)) this.desk.notices.moved();
  }

  get #stands(): boolean {
    const { notices, now } = this.desk;
    return this.#warning !== null && notices.stands(this.#warning.notice, now);
  }

  #warn(count: number): void {
    const { notices, now } = this.desk;
    const calls = count === 1 ? 'A call is' : `${count} calls are`;
    const text = `${calls} under way and will be cancelled: press it again to quit.`;
    this.#warning = { count, notice: notices.key(text, now, 'bad') };
  }
}
