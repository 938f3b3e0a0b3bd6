/** Characters of all words: the automaton takes some 60 MB at the worst. */
const BUDGET = 1024 * 1024;
const FEW = 16;
/** Characters. With long words the engine's own search may take their length times that of the text. */
const SHORT = 256;
const ROOT = 0;

interface Edge {
  readonly from: number;
  readonly code: number;
  readonly to: number;
  readonly depth: number;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds many words in a text at once (Aho and Corasick), in the time it takes to read the text, however many they are and
 * whatever they have in common: they may come from a caller.
 */
export class WordFinder {
  readonly #words: string[] = [];
  /** The length of the shortest word that there was no room for. */
  #shortestLeftOut = Number.POSITIVE_INFINITY;
  readonly #areFew: boolean;
  #automaton: Automaton | undefined;

  constructor(words: Iterable<string>, budget = BUDGET) {
    let left = budget;
    for (const word of words) {
      if (word.length > left) this.#shortestLeftOut = Math.min(this.#shortestLeftOut, word.length);
      else if (word !== '') {
        left -= word.length;
        this.#words.push(word);
      }
    }
    this.#areFew = this.#words.length <= FEW && this.#words.every(({ length }) => length <= SHORT);
  }

  /**
   * Replaces the words by `substitute`; words that overlap are replaced as one.
   * @throws RangeError if the text could contain a word that there was no room for.
   */
  replaceIn(text: string, substitute: string): string {
    if (text.length >= this.#shortestLeftOut) throw new RangeError('too many secrets to redact');
    if (this.#areFew && !this.#words.some(word => text.includes(word))) return text; // the usual case, at the speed of the engine
    this.#automaton ??= new Automaton(this.#words);
    const pieces: string[] = [];
    let done = 0;
    for (const { from, to } of this.#automaton.spansIn(text)) {
      pieces.push(text.slice(done, from), substitute);
      done = to;
    }
    return pieces.join('') + text.slice(done);
  }
}

/** A state stands for the longest end of the text so far that begins a word. */
class Automaton {
  readonly #next = new Map<number, number>();
  /** By state: the state of the next shorter end that begins a word too. */
  readonly #shorter: number[] = [ROOT];
  /** By state: the length of the longest word that ends there; 0 without one. */
  readonly #wordLength: number[] = [0];

  constructor(words: readonly string[]) {
    const edges = words.flatMap(word => this.#add(word));
    for (const { from, code, to } of edges.sort((a, b) => a.depth - b.depth)) {
      const shorter = from === ROOT ? ROOT : this.#follow(this.#shorter[from] ?? ROOT, code);
      this.#shorter[to] = shorter;
      this.#wordLength[to] ||= this.#wordLength[shorter] ?? 0;
    }
  }

  spansIn(text: string): Span[] {
    const spans: Span[] = [];
    let state = ROOT;
    for (let at = 0; at < text.length; at++) {
      state = this.#follow(state, text.charCodeAt(at));
      const length = this.#wordLength[state] ?? 0;
      if (length > 0) cover(spans, at + 1 - length, at + 1);
    }
    return spans;
  }

  #add(word: string): Edge[] {
    const edges: Edge[] = [];
    let state = ROOT;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      const known = this.#next.get(edgeKey(state, code));
      const to = known ?? this.#shorter.push(ROOT) - 1;
      if (known === undefined) {
        this.#wordLength.push(0);
        this.#next.set(edgeKey(state, code), to);
        edges.push({ from: state, code, to, depth: at });
      }
      state = to;
    }
    this.#wordLength[state] = word.length;
    return edges;
  }

  #follow(state: number, code: number): number {
    for (let at = state; ; at = this.#shorter[at] ?? ROOT) {
      const next = this.#next.get(edgeKey(at, code));
      if (next !== undefined) return next;
      if (at === ROOT) return ROOT;
    }
  }
}

function edgeKey(state: number, code: number): number {
  return state * 0x1_00_00 + code;
}

/** Adds a span that ends where none ended before; spans that it overlaps become part of it. */
function cover(spans: Span[], from: number, to: number): void {
  let start = from;
  for (let last = spans.at(-1); last && last.to > start; last = spans.at(-1)) {
    start = Math.min(start, last.from);
    spans.pop();
  }
  spans.push({ from: start, to });
}
