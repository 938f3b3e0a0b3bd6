import type { Span } from './needles.js';
import { RecentMap } from './recent-map.js';

/** What a text ends with that was cut (`cut`, `excerpt`). */
const MARK = '…';
/** Shorter beginnings tell nothing, and may be those of anything. */
const SHORTEST = 8;
/** Of a longer string this much is known. */
const LONGEST = 256;
/** Characters by which strings are looked up: by more of them where too many begin alike. */
const HEADS = [SHORTEST, 16, 64];
/** Where so many begin alike, whatever is shorter than the next head counts. */
const MANY = 32;
/** Characters before a mark: nothing is cut to more. */
const FARTHEST = 4_096;
/** Heads, where many come and go: what is cut is told soon after it came. */
export const LATEST = 150_000;

/** Many strings, of which a text that was cut may hold the beginning only. */
export class Beginnings {
  /** By their heads; most have one of their own. */
  readonly #wholes: RecentMap<string, string | readonly string[]>;

  /** @param remembered heads, of the latest; all unless told */
  constructor(remembered = Number.POSITIVE_INFINITY) {
    this.#wholes = new RecentMap(remembered);
  }

  add(string: string): void {
    const whole = string.slice(0, LONGEST);
    for (const length of HEADS) {
      if (length >= string.length) return;
      const head = whole.slice(0, length);
      const known = this.#of(head);
      if (known.length >= MANY) continue;
      if (!known.includes(whole)) this.#wholes.set(head, known.length === 0 ? whole : [...known, whole]);
      return;
    }
  }

  /** Where they are, in order: each from where it begins to the mark. In the time it takes to read the text. */
  in(text: string): Span[] {
    const spans: Span[] = [];
    let from = 0;
    for (let mark = text.indexOf(MARK); mark >= 0; mark = text.indexOf(MARK, from)) {
      const at = this.#firstIn(text, Math.max(from, mark - FARTHEST), mark);
      if (at < mark) spans.push({ from: at, to: mark });
      from = mark + 1;
    }
    return spans;
  }

  #firstIn(text: string, from: number, to: number): number {
    for (let at = from; at + SHORTEST <= to; at++)
      if (this.#wholes.get(text.slice(at, at + SHORTEST)) && this.#has(text.slice(at, to))) return at;
    return to;
  }

  #has(piece: string): boolean {
    for (const length of HEADS) {
      if (length > piece.length) return true;
      const known = this.#of(piece.slice(0, length));
      if (known.some(whole => whole.startsWith(piece.slice(0, LONGEST)))) return true;
      if (known.length < MANY) return false;
    }
    return true;
  }

  #of(head: string): readonly string[] {
    const known = this.#wholes.get(head) ?? [];
    return typeof known === 'string' ? [known] : known;
  }
}
