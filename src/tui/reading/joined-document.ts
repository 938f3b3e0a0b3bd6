import type { Line } from '../../render/line.js';
import { lastIndexUpTo, RecentMap } from '../../util/collections.js';
import type { Anchor, Document } from './document.js';

/** Minimum number of parts that stay laid out: more than a screen shows. */
const LAID_OUT = 200;

/** Documents below one another, with their landmarks. Lays out parts again when they are read. */
class JoinedDocument implements Document {
  #length = 0;
  readonly #makers: (() => Document)[] = [];
  readonly #laidOut = new RecentMap<number, Document>(LAID_OUT);
  readonly #starts: number[] = [];
  readonly #landmarks: Record<'hunk' | 'file', number[]> = { hunk: [], file: [] };

  constructor(readonly isFoldable: () => boolean) {}

  get length(): number {
    return this.#length;
  }

  /** The number of its parts. */
  get count(): number {
    return this.#makers.length;
  }

  /** Adds a part that cannot be folded. @param make called when the part is read, unless it is still laid out */
  add(make: () => Document): void {
    const part = make();
    for (const kind of ['hunk', 'file'] as const)
      for (const line of Array.from(part.landmarks(kind))) this.#landmarks[kind].push(line + this.#length);
    this.#makers.push(make);
    this.#starts.push(this.#length);
    this.#length += part.length;
  }

  line(index: number): Line {
    const { part, at } = this.#locate(index);
    return part?.line(at) ?? [];
  }

  headersAt(index: number): readonly Line[] {
    const { part, at } = this.#locate(index);
    return part?.headersAt(at) ?? [];
  }

  find(wanted: RegExp, from: number, step: 1 | -1): number | null {
    let { which, part, at } = this.#locate(from);
    while (part) {
      const found = part.find(wanted, at, step);
      if (found !== null) return this.#startOf(which) + found;
      which += step;
      part = this.#part(which);
      at = step > 0 ? 0 : (part?.length ?? 0) - 1;
    }
    return null;
  }

  landmarks(kind: 'hunk' | 'file'): ArrayLike<number> {
    return this.#landmarks[kind];
  }

  anchorAt(line: number): Anchor {
    const { which, part, at } = this.#locate(line);
    return [which, ...(part?.anchorAt(at) ?? [])];
  }

  lineAt([which = 0, ...rest]: Anchor): number {
    return this.#startOf(which) + (this.#part(which)?.lineAt(rest) ?? 0);
  }

  #startOf(which: number): number {
    return this.#starts[which] ?? 0;
  }

  #locate(line: number) {
    const which = line < this.#length ? lastIndexUpTo(this.#starts, line) : -1;
    return { which, part: this.#part(which), at: line - this.#startOf(which) };
  }

  #part(which: number): Document | undefined {
    const make = this.#makers[which];
    return make && this.#laidOut.of(which, make);
  }
}

/** @param isFoldable default: whether a part is */
export function joinedDocument(
  parts: readonly Document[],
  isFoldable = () => parts.some(part => part.isFoldable()),
): Document {
  const joined = new JoinedDocument(isFoldable);
  for (const part of parts) joined.add(() => part);
  return joined;
}

/** A document without parts, to which parts are added. */
export function growingDocument(): JoinedDocument {
  return new JoinedDocument(() => false);
}
