/** Characters of words that are looked for: some 60 MB at the worst. */
const BUDGET = 1024 * 1024;
const FEW = 16;
/** Characters. With long words the engine's own search may take as long as their length times the text's. */
const SHORT = 256;
const ROOT = 0;

/**
 * Finds many words in a text at once (Aho and Corasick), in the time it takes to read the text, however many they are and
 * whatever they have in common.
 */
export class WordFinder {
  readonly #words: readonly string[];
  /** The length of the shortest word that there was no room for. */
  readonly #beyond: number;
  readonly #areFew: boolean;
  #automaton: Automaton | undefined;

  constructor(words: Iterable<string>, budget = BUDGET) {
    const { chosen, beyond } = affordable(words, budget);
    this.#words = chosen;
    this.#beyond = beyond;
    this.#areFew = chosen.length <= FEW && chosen.every(word => word.length <= SHORT);
  }

  /**
   * Puts `substitute` where words are; words that overlap are one place.
   * @throws RangeError where the text could hold a word that there was no room for.
   */
  replaceIn(text: string, substitute: string): string {
    if (text.length >= this.#beyond) throw new RangeError('there are more secrets than can be looked for');
    if (this.#holdsNone(text)) return text;
    this.#automaton ??= new Automaton(this.#words);
    const pieces: string[] = [];
    let done = 0;
    for (const { from, to } of this.#automaton.placesIn(text)) {
      pieces.push(text.slice(done, from), substitute);
      done = to;
    }
    return pieces.join('') + text.slice(done);
  }

  /** What is nearly always so is found out at the speed of the engine's own search. */
  #holdsNone(text: string): boolean {
    return this.#areFew && !this.#words.some(word => text.includes(word));
  }
}

interface Place {
  readonly from: number;
  readonly to: number;
}

/** States are numbers; a state is what the text before it ends with, as far as that begins a word. */
class Automaton {
  readonly #next = new Map<number, number>();
  /** By state: the state of the longest shorter end that begins a word too. */
  readonly #shorter: number[] = [ROOT];
  /** By state: the length of the longest word that ends there; 0 where none does. */
  readonly #ending: number[] = [0];

  constructor(words: readonly string[]) {
    const edges = words.flatMap(word => this.#add(word));
    for (const edge of edges.sort((a, b) => a.depth - b.depth)) this.#link(edge);
  }

  placesIn(text: string): Place[] {
    const places: Place[] = [];
    let state = ROOT;
    for (let at = 0; at < text.length; at++) {
      state = this.#follow(state, text.charCodeAt(at));
      const length = this.#ending[state] ?? 0;
      if (length > 0) cover(places, { from: at + 1 - length, to: at + 1 });
    }
    return places;
  }

  #add(word: string): Edge[] {
    const edges: Edge[] = [];
    let state = ROOT;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      const known = this.#next.get(edgeKey(state, code));
      const to = known ?? this.#shorter.push(ROOT) - 1;
      if (known === undefined) {
        this.#ending.push(0);
        this.#next.set(edgeKey(state, code), to);
        edges.push({ from: state, code, to, depth: at });
      }
      state = to;
    }
    this.#ending[state] = word.length;
    return edges;
  }

  /** Shorter ones first: each builds on those. */
  #link({ from, code, to }: Edge): void {
    const shorter = from === ROOT ? ROOT : this.#follow(this.#shorter[from] ?? ROOT, code);
    this.#shorter[to] = shorter;
    this.#ending[to] ||= this.#ending[shorter] ?? 0;
  }

  #follow(state: number, code: number): number {
    for (let at = state; ; at = this.#shorter[at] ?? ROOT) {
      const next = this.#next.get(edgeKey(at, code));
      if (next !== undefined) return next;
      if (at === ROOT) return ROOT;
    }
  }
}

interface Edge {
  readonly from: number;
  readonly code: number;
  readonly to: number;
  readonly depth: number;
}

function edgeKey(state: number, code: number): number {
  return state * 0x1_00_00 + code;
}

/** Adds a place that ends where none ended before; what it overlaps becomes part of it. */
function cover(places: Place[], { from, to }: Place): void {
  let start = from;
  for (let last = places.at(-1); last && last.to > start; last = places.at(-1)) {
    start = Math.min(start, last.from);
    places.pop();
  }
  places.push({ from: start, to });
}

function affordable(words: Iterable<string>, budget: number) {
  const chosen: string[] = [];
  let beyond = Number.POSITIVE_INFINITY;
  let left = budget;
  for (const word of words) {
    if (word === '') continue;
    if (word.length > left) beyond = Math.min(beyond, word.length);
    else {
      left -= word.length;
      chosen.push(word);
    }
  }
  return { chosen, beyond };
}
