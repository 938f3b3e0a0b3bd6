/** Characters by which a needle is looked up: none is shorter. */
const HEAD = 4;
const MARKS = 1 << 16;
/** Of which each is searched for by itself: the engine does that faster than we walk through a text. */
const FEW = 32;

/** A half-open range of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Many strings, each of four characters at least, found in a text in the time it takes to read it. */
export class Needles {
  readonly #needles = new Set<string>();
  /** By how needles begin: how long they are, the longest first. */
  readonly #lengths = new Map<string, readonly number[]>();
  /** By a hash of how needles begin: most places of a text need no more than that. */
  readonly #marks = new Uint8Array(MARKS);

  add(needle: string): void {
    if (needle.length < HEAD || this.#needles.has(needle)) return;
    this.#needles.add(needle);
    this.#marks[markAt(needle, 0)] = 1;
    const head = needle.slice(0, HEAD);
    const lengths = this.#lengths.get(head) ?? [];
    if (!lengths.includes(needle.length))
      this.#lengths.set(
        head,
        [...lengths, needle.length].sort((a, b) => b - a),
      );
  }

  /** Where they are, in order; those that overlap are one. */
  in(text: string): Span[] {
    return merged(this.#needles.size <= FEW ? this.#search(text) : this.#walk(text));
  }

  #search(text: string): Span[] {
    const spans: Span[] = [];
    for (const needle of this.#needles)
      for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
        spans.push({ from: at, to: at + needle.length });
    return spans.sort((a, b) => a.from - b.from);
  }

  #walk(text: string): Span[] {
    const spans: Span[] = [];
    for (let at = 0; at + HEAD <= text.length; at++) {
      const to = this.#marks[markAt(text, at)] === 1 ? this.#endAt(text, at) : at;
      if (to > at) spans.push({ from: at, to });
    }
    return spans;
  }

  /** Where the longest ends that begins `at` this place; `at` itself where none does. */
  #endAt(text: string, at: number): number {
    const lengths = this.#lengths.get(text.slice(at, at + HEAD)) ?? [];
    const length = lengths.find(each => this.#needles.has(text.slice(at, at + each))) ?? 0;
    return at + length;
  }
}

function merged(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const { from, to } of spans) {
    const before = apart.at(-1);
    if (before && from < before.to)
      apart[apart.length - 1] = { from: before.from, to: Math.max(before.to, to) };
    else apart.push({ from, to });
  }
  return apart;
}

function markAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 5) ^ text.charCodeAt(at + 1);
  const second = (text.charCodeAt(at + 2) << 5) ^ text.charCodeAt(at + 3);
  return (Math.imul(first, 0x9e37) ^ second) & (MARKS - 1);
}
