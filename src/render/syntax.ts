import type { RowKind, Rows } from '../segments/hunks.js';
import type { Drawing } from '../segments/segments.js';
import { RecentMap } from '../util/collections.js';
import { TimeLimitError, withTimeLimit } from '../util/time-limit.js';
import type { Lexer, Token } from './syntax-lexers.js';

/** Maximum length of a row, in characters; longer ones are generated. */
const MAX_ROW = 1_000;

const MAX_ROWS = 2_000;

/** Maximum length of a text, in characters. */
const MAX_TEXT = 50_000;

/** Number of rows read first; it doubles with each further read. */
const FIRST_ROWS = 64;

/**
 * The tokens of a hunk. A row depends on those before it, so rows are read from the first one up to the requested one. The old and the new
 * version are read separately.
 */
class HunkTokens {
  readonly #tokens = new Map<number, readonly Token[]>();
  #read = 0;

  constructor(
    private readonly rows: Rows,
    private readonly lexer: Lexer,
  ) {}

  of(index: number): readonly Token[] | null {
    if (this.rows.length > MAX_ROWS) return null;
    if (index >= this.#read) this.#readBeyond(index);
    return this.#tokens.get(index) ?? null;
  }

  #readBeyond(index: number): void {
    let read = Math.max(FIRST_ROWS, this.#read);
    while (read <= index) read *= 2;
    this.#read = Math.min(read, this.rows.length);
    this.#readWithout('added');
    this.#readWithout('removed');
  }

  #readWithout(kind: RowKind): void {
    const texts = new Map<number, string>();
    let size = 0;
    for (let index = 0; index < this.#read && size <= MAX_TEXT; index++) {
      if (this.rows.kindAt(index) === kind) continue;
      const text = this.rows.textAt(index);
      texts.set(index, text.length <= MAX_ROW ? text : '');
      size += Math.min(text.length, MAX_ROW);
    }
    const lines = linesOf(this.lexer([...texts.values()].join('\n')));
    for (const [line, index] of [...texts.keys()].entries()) {
      const tokens = lines[line];
      if (tokens && tokens.length > 0) this.#tokens.set(index, tokens);
    }
  }
}

/** Splits tokens that span several lines. */
function linesOf(tokens: readonly Token[]): Token[][] {
  let line: Token[] = [];
  const lines = [line];
  for (const { text, role } of tokens)
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) {
        line = [];
        lines.push(line);
      }
      if (piece !== '') line.push({ text: piece, role });
    }
  return lines;
}

/** Time limit per text. Ordinary code takes a tenth of it; text that is crafted to be slow would take forever. */
const LIMIT_MS = 300;

/** Number of hunks cached: more than a screen shows, but few enough that long diffs cost no more than short ones. */
const REMEMBERED = 16;

/** Highlights code, and caches recent hunks. */
export class Highlighter {
  readonly #hunks = new RecentMap<Rows, HunkTokens>(REMEMBERED);
  #isOutOfTime = false;

  constructor(private readonly lexerFor: (path: string) => Lexer | null) {}

  /**
   * The tokens of a row, which join to its text; null if the language is unknown, or if reading it would take too long.
   * @param path of the file, whose name determines the language
   */
  tokensOf(path: string, rows: Rows, index: number): readonly Token[] | null {
    return (this.#hunks.get(rows) ?? this.#hunkOf(path, rows))?.of(index) ?? null;
  }

  #hunkOf(path: string, rows: Rows): HunkTokens | null {
    const lexer = this.lexerFor(path);
    if (!lexer) return null;
    const hunk = new HunkTokens(rows, text => this.#read(text, lexer));
    this.#hunks.set(rows, hunk);
    return hunk;
  }

  /** After a timeout, no further code is highlighted. */
  #read(text: string, lexer: Lexer): readonly Token[] {
    if (this.#isOutOfTime) return [];
    try {
      return withTimeLimit(() => lexer(text), LIMIT_MS);
    } catch (error) {
      this.#isOutOfTime = error instanceof TimeLimitError;
      return [];
    }
  }
}

/** Loads the highlighter for some drawings; null if they contain no diff. */
export async function loadHighlighter(drawings: readonly Drawing[]): Promise<Highlighter | null> {
  if (!drawings.some(({ kind }) => kind === 'diff')) return null;
  const { lexerFor } = await loadLexers();
  return new Highlighter(lexerFor);
}

/** Takes about 20 ms, once: call it early, while the program waits for something else. */
export function loadLexers() {
  return import('./syntax-lexers.js');
}
