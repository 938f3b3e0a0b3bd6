import { RecentMap } from './collections.js';
import { visibleLine } from './visible.js';

/** Secrets are looked up by this many characters; shorter ones are too common to be redacted. */
const MIN_LENGTH = 4;

/** A part of a text, in characters. */
export interface Span {
  readonly from: number;
  to: number;
}

interface FinderOptions {
  /** Number of latest forms of secrets to keep; default: all. */
  readonly remembered?: number;
  /** Secrets shorter than this are not found within a longer word, unless they are encoded. */
  readonly wholeBelow?: number;
}

/** Where a form of a secret is found. */
type Place = 'words' | 'anywhere';

/** More forms than two secrets have. */
const MAX_FORMS = 48;

/**
 * Finds many secrets, in every encoding that occurs on a wire (threats, row 25). Takes linear time, since both the secrets and the text
 * may be hostile; a text that takes longer counts as one secret.
 */
export class SecretFinder {
  /** A list until it is long. */
  #forms: FormList | FormIndex = new FormList();
  /** Secrets whose forms are still kept. */
  readonly #known: RecentMap<string, true>;

  /** @param options only the secrets of URLs have any: there are many, and some are ordinary words */
  constructor(private readonly options: FinderOptions = {}) {
    this.#known = new RecentMap((options.remembered ?? Number.POSITIVE_INFINITY) / MAX_FORMS);
  }

  /** Secrets shorter than four characters are too common. */
  add(secret: string): void {
    if (secret.length < MIN_LENGTH || this.#known.get(secret)) return;
    this.#known.set(secret, true);
    for (const form of writtenForms(secret)) this.#addForm(form, 'words');
    for (const form of encodedForms(secret)) this.#addForm(form, 'anywhere');
  }

  #addForm(form: string, place: Place): void {
    if (form.length < MIN_LENGTH) return;
    this.#forms.add(form, place);
    if (this.#forms instanceof FormList && this.#forms.isLong)
      this.#forms = new FormIndex(this.#forms.all, this.options.remembered);
  }

  /** The secrets in a text, in order; overlapping ones are one. */
  find(text: string): readonly Span[] {
    const search = new Search(text, this.options.wholeBelow);
    const spans = this.#forms.find(search);
    return search.isOver ? [{ from: 0, to: text.length }] : spans;
  }
}

/** Maximum number of compared characters: in any text, and more for each character of it. */
const MAX_WORK = { anyText: 4 * 1024, eachCharacter: 32 };

/** A search through one text, which ends when it takes too long. */
class Search {
  #work: number;

  constructor(
    readonly text: string,
    private readonly wholeBelow: number | undefined,
  ) {
    this.#work = MAX_WORK.anyText + MAX_WORK.eachCharacter * text.length;
  }

  get isOver(): boolean {
    return this.#work < 0;
  }

  spend(comparedCharacters: number): void {
    this.#work -= comparedCharacters;
  }

  /** Whether a form counts as a secret at a position. */
  isAllowed(place: Place, from: number, to: number): boolean {
    const { text, wholeBelow } = this;
    if (place === 'anywhere' || wholeBelow === undefined) return true;
    this.spend(backslashesBefore(text, from));
    return startsWord(text, from) && (to - from >= wholeBelow || !isWithinWord(text, to));
  }
}

/** Up to this number of forms, a list is faster than an index. */
const MAX_LISTED = 100;

/** Number of characters for `indexOf`, whose time can be the product of both lengths. */
const START = 32;

/** What it costs to find a possible match, in compared characters. */
const MATCH_WORK = 8;

/**
 * Few forms, each found with `indexOf`. Nearly all runs have one or two secrets, for which a text of 1 MB is searched in 1 to 2 ms; an
 * index needs 8 to 10 ms, and 0.2 ms to be created.
 */
class FormList {
  readonly #places = new Map<string, Place>();

  get isLong(): boolean {
    return this.#places.size > MAX_LISTED;
  }

  get all(): Iterable<readonly [form: string, place: Place]> {
    return this.#places;
  }

  add(form: string, place: Place): void {
    this.#places.set(form, place);
  }

  find(search: Search): Span[] {
    const spans: Span[] = [];
    for (const [form, place] of this.#places)
      for (const span of this.#spansOf(form, place, search)) spans.push(span);
    const all: Span[] = [];
    for (const { from, to } of spans.sort((a, b) => a.from - b.from)) addSpan(all, from, to);
    return all;
  }

  #spansOf(form: string, place: Place, search: Search): Span[] {
    const { text } = search;
    const start = form.slice(0, START);
    const spans: Span[] = [];
    for (let at = text.indexOf(start); at >= 0 && !search.isOver; at = text.indexOf(start, at + 1)) {
      const to = at + form.length;
      search.spend(MATCH_WORK + form.length / 8); // compared natively
      if (text.slice(at, to) === form && search.isAllowed(place, at, to)) addSpan(spans, at, to);
    }
    return spans;
  }
}

const HASHES = 1 << 20;

/**
 * Many forms, such as those of the callback URLs of a long recording, found in one pass through the text: thousands take as long as a
 * hundred.
 */
class FormIndex {
  readonly #places: RecentMap<string, Place>;
  /** Lengths of forms by first characters, longest first. */
  readonly #lengths: RecentMap<string, readonly number[]>;
  /** Each different list of lengths once: thousands of secrets share a few, and a list each would be a third of the memory of the index. */
  readonly #lists: RecentMap<string, readonly number[]>;
  /** Hashes of first and of last characters, which rule out most positions of a text. */
  readonly #starts = new Uint8Array(HASHES);
  readonly #ends = new Uint8Array(HASHES);

  constructor(forms: Iterable<readonly [form: string, place: Place]>, remembered = Number.POSITIVE_INFINITY) {
    this.#places = new RecentMap(remembered);
    this.#lengths = new RecentMap(remembered);
    this.#lists = new RecentMap(remembered);
    for (const [form, place] of forms) this.add(form, place);
  }

  add(form: string, place: Place): void {
    this.#places.set(form, place);
    this.#starts[hashAt(form, 0)] = 1;
    this.#ends[hashAt(form, form.length - MIN_LENGTH)] = 1;
    const head = form.slice(0, MIN_LENGTH);
    const lengths = this.#lengths.get(head) ?? [];
    const isNew = !lengths.includes(form.length);
    this.#lengths.set(head, isNew ? this.#listOf([...lengths, form.length]) : lengths);
  }

  #listOf(lengths: number[]): readonly number[] {
    const sorted = lengths.sort((a, b) => b - a);
    return this.#lists.of(sorted.join(), () => sorted);
  }

  find(search: Search): Span[] {
    const { text } = search;
    const spans: Span[] = [];
    for (let at = 0; at + MIN_LENGTH <= text.length && !search.isOver; at++) {
      if (this.#starts[hashAt(text, at)] !== 1) continue;
      const lengths = this.#lengths.get(text.slice(at, at + MIN_LENGTH));
      const length = lengths?.find(each => this.#isAt(at, each, search));
      if (length) addSpan(spans, at, at + length);
    }
    return spans;
  }

  #isAt(at: number, length: number, search: Search): boolean {
    const { text } = search;
    const to = at + length;
    search.spend(MIN_LENGTH);
    if (this.#ends[hashAt(text, to - MIN_LENGTH)] !== 1) return false;
    search.spend(length);
    const place = this.#places.get(text.slice(at, to));
    return place !== undefined && search.isAllowed(place, at, to);
  }
}

/** Adds a span, and merges it with the last one if they overlap. */
function addSpan(spans: Span[], from: number, to: number): void {
  const last = spans.at(-1);
  if (last && from < last.to) last.to = Math.max(last.to, to);
  else spans.push({ from, to });
}

function hashAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 5) ^ text.charCodeAt(at + 1);
  const second = (text.charCodeAt(at + 2) << 5) ^ text.charCodeAt(at + 3);
  return (Math.imul(first, 0x9e37) ^ second) & (HASHES - 1);
}

function isWithinWord(text: string, at: number): boolean {
  return /^\w\w$/.test(text.slice(Math.max(0, at - 1), at + 1));
}

/** Whether a word starts at a position. In JSON and percent-encoded text an escape is not part of the word after it. */
function startsWord(text: string, at: number): boolean {
  if (isEscaped(text, at)) return false;
  return (
    !isWithinWord(text, at) ||
    isEscaped(text, at - 1) ||
    (isEscaped(text, at - 5) && text[at - 5] === 'u') ||
    /^%[\da-f]{2}$/i.test(text.slice(Math.max(0, at - 3), at))
  );
}

function isEscaped(text: string, at: number): boolean {
  return backslashesBefore(text, at) % 2 === 1;
}

function backslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text[at - 1 - count] === '\\') count++;
  return count;
}

/** How often JSON may be quoted in JSON. */
const JSON_LEVELS = 3;

/** A secret as a word: plain, in JSON, in a URL, and as shown on a screen. */
function writtenForms(secret: string): Set<string> {
  const forms = new Set([secret, visibleLine(secret)]);
  let json = secret;
  for (let level = 0; level < JSON_LEVELS; level++) {
    json = JSON.stringify(json).slice(1, -1);
    forms.add(json).add(json.replaceAll('/', '\\/'));
  }
  const percent = encodeURIComponent(secret.toWellFormed());
  return forms.add(percent).add(percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()));
}

/** A secret as a part of an encoded text: every byte percent-encoded, in hex, and in base64 at each offset. */
function encodedForms(secret: string): Set<string> {
  const hex = Buffer.from(secret).toString('hex');
  const percent = hex.replace(/../g, '%$&');
  const forms = new Set([hex, hex.toUpperCase(), percent, percent.toUpperCase()]);
  for (const encoding of ['base64', 'base64url'] as const)
    forms.add(Buffer.from(secret).toString(encoding).replace(/=+$/, ''));
  for (const before of ['', '-', '--']) {
    const bytes = Buffer.from(before + secret);
    // Within other bytes, the characters at both ends contain bits of these.
    const start = Math.ceil((before.length * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    for (const encoding of ['base64', 'base64url'] as const)
      forms.add(bytes.toString(encoding).slice(start, end));
  }
  return forms;
}
