import { MAX_DEPTH } from '../../util/json-diagnosis.js';
import { REDACTED, writtenForms } from '../../util/redact.js';
import { jsonPath } from '../../util/redact-json.js';

/** C0, DEL and C1, which no text needs but for its line feeds and tabs. */
const CONTROL = /(?![\n\t])\p{Cc}/u;
const CONTROLS = new RegExp(CONTROL, 'gu');

export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

function withoutControls(text: string): string {
  return text.replace(CONTROLS, '');
}

/** What `JSON.stringify` would write: a date, for one, is its text. */
export function asJson(value: object): unknown {
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

/** @throws RangeError where a value has more than 128 levels (threats, row 18), be it because it holds itself. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`a value is nested deeper than ${MAX_DEPTH} levels`);
}

/** Names for the members of an object whose keys change: two that become the same, as tokens used as keys do, stay two. */
export class Names {
  readonly #next = new Map<string, number>();

  constructor(private readonly original: object) {}

  /** `name`, or `name 2`, `name 3` … where that is taken. A key that did not change keeps its own. */
  take(name: string): string {
    for (let number = this.#next.get(name) ?? 1; ; number++) {
      const free = number === 1 ? name : `${name} ${number}`;
      if (Object.hasOwn(this.original, free)) continue;
      this.#next.set(name, number + 1);
      return free;
    }
  }
}

/** What a response middleware does, ready to be asked. */
export interface Rules {
  readonly isSecret: (key: string) => boolean;
  readonly sanitize: boolean;
}

/** Shorter ones are no secrets, and too common to take out. */
const SHORTEST = 4;
const CREDENTIALS = /^(?:basic|bearer|digest|token) +(\S+)$/i;

/** The secrets of one message: whatever stands at or below a key that has them. */
export class Secrets {
  readonly #known = new Set<string>();

  get size(): number {
    return this.#known.size;
  }

  /** Of `Bearer x`, `x` alone is a secret too. */
  add(secret: string): void {
    if (secret === REDACTED) return;
    const [, credentials = ''] = CREDENTIALS.exec(secret) ?? [];
    for (const each of [secret, credentials]) if (each.length >= SHORTEST) this.#known.add(each);
  }

  has(text: string): boolean {
    return this.#known.has(text);
  }

  /** What to look for in texts: each secret as it is, and in the forms that it may be written in; those first that were added first. */
  *forms(): Iterable<string> {
    for (const secret of this.#known)
      for (const form of new Set([secret, withoutControls(secret), ...writtenForms(secret)]))
        if (form.length >= SHORTEST) yield form;
  }
}

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
    if (text.length >= this.#beyond) throw new RangeError('too many secrets to redact');
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

const MAX_CHANGES = 100;

/** One place of a message that middleware changes. The path is that of the changed message, in which keys may have changed too. */
export interface Change {
  readonly path: string;
  readonly change: 'redacted' | 'sanitized';
}

/** Makes a copy of a value, with the changes that the rules ask for. The value must have been surveyed. */
export class Shaping {
  /** The first hundred. */
  readonly changes: Change[] = [];
  readonly #path: PropertyKey[] = [];
  readonly #finder: WordFinder;

  constructor(
    private readonly rules: Rules,
    private readonly secrets: Secrets,
  ) {
    this.#finder = new WordFinder(secrets.forms());
  }

  /** Sanitised first: no control character may hide a secret from us. */
  shape(value: unknown): unknown {
    if (typeof value === 'string') return this.#noting(value, this.#shapeText(value));
    if (typeof value === 'number') return this.secrets.has(String(value)) ? this.#redacted() : value;
    if (typeof value !== 'object' || value === null) return value;
    const json = asJson(value);
    if (json !== value) return this.shape(json);
    return Array.isArray(value) ? this.#list(value) : this.#record(value);
  }

  #list(list: readonly unknown[]): unknown[] {
    return list.map((each, index) => this.#at(index, () => this.shape(each)));
  }

  /** Without a prototype: a key `__proto__` is a key like any other (threats, row 19). */
  #record(record: object): object {
    const copy: Record<string, unknown> = Object.create(null);
    const names = new Names(record);
    for (const [key, member] of Object.entries(record)) {
      const shaped = this.#shapeText(key);
      const name = shaped.text === key ? key : names.take(shaped.text);
      copy[name] = this.#at(name, () => {
        this.#noting(key, shaped);
        return this.rules.isSecret(key) ? this.#secret(member) : this.shape(member);
      });
    }
    return copy;
  }

  #secret(value: unknown): string {
    return value === REDACTED ? value : this.#redacted();
  }

  #redacted(): string {
    this.#note('redacted');
    return REDACTED;
  }

  #shapeText(text: string): ShapedText {
    const sanitized = this.rules.sanitize ? withoutControls(text) : text;
    return { sanitized, text: this.#finder.replaceIn(sanitized, REDACTED) };
  }

  #noting(before: string, { sanitized, text }: ShapedText): string {
    if (sanitized !== before) this.#note('sanitized');
    if (text !== sanitized) this.#note('redacted');
    return text;
  }

  #note(change: Change['change']): void {
    if (this.changes.length < MAX_CHANGES) this.changes.push({ path: jsonPath(this.#path), change });
  }

  #at<T>(key: PropertyKey, work: () => T): T {
    this.#path.push(key);
    const result = work();
    this.#path.pop();
    return result;
  }
}

interface ShapedText {
  readonly sanitized: string;
  readonly text: string;
}
