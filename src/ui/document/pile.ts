import { RecentMap } from '../../text/recent-map.js';
import { lastUpTo } from '../../text/sorted.js';
import type { Document } from './document.js';
import { findAcross } from './find-across.js';
import { unfolded } from './unfolded.js';

/** Things that stay laid out, at least: more than a screen has. */
const LAID = 200;

/** Things one below the other, of which more and more come: how high each is, is remembered, and it is laid out where it is read. */
export class Pile<Item> {
  readonly #items: Item[] = [];
  readonly #starts: number[] = [];
  readonly #laid = new RecentMap<number, Document>(LAID);
  #length = 0;

  constructor(private readonly lay: (item: Item) => Document) {}

  get count(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#starts.push(this.#length);
    this.#length += this.lay(item).length;
  }

  /** All of them by now. */
  get document(): Document {
    const length = this.#length;
    const places = { starts: this.#starts, locate: this.#locate, lengthOf: this.#lengthOf };
    return {
      length,
      line: index => {
        const { which, at } = this.#locate(index);
        return this.#documentOf(which)?.line(at) ?? [];
      },
      headersAt: () => [],
      find: (wanted, from, step) =>
        findAcross(
          places,
          from,
          step,
          (which, at) => this.#documentOf(which)?.find(wanted, at, step) ?? null,
        ),
      landmarks: () => [],
      ...unfolded(length),
    };
  }

  readonly #locate = (line: number) => {
    const which = line < this.#length ? lastUpTo(this.#starts, line) : -1;
    return { which, at: line - (this.#starts[which] ?? 0) };
  };

  readonly #lengthOf = (which: number) =>
    (this.#starts[which + 1] ?? this.#length) - (this.#starts[which] ?? 0);

  #documentOf(which: number): Document | undefined {
    const item = this.#items[which];
    if (item === undefined) return undefined;
    const document = this.#laid.get(which) ?? this.lay(item);
    this.#laid.set(which, document);
    return document;
  }
}
