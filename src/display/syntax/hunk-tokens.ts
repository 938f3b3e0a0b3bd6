import type { RowKind, Rows } from '../diff/model.js';
import type { Token } from './token.js';

/** Reads a text in one language; the tokens make up the text. @throws where its grammar breaks. */
export type Lexer = (text: string) => readonly Token[];

/** A longer row is nothing that a person wrote. */
const MAX_ROW = 1_000;
const MAX_ROWS = 2_000;
/** Characters. */
const MAX_TEXT = 50_000;
/** How many rows are read at first; then twice as many, and so on. */
const FIRST_ROWS = 64;

/**
 * The tokens of a hunk. What a row means depends on those before it, so they are read from the first on, but no further than
 * is asked for; and what was there before the change is read apart from what is there after it.
 */
export class HunkTokens {
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

/** Tokens may go over several lines; here each ends with its line. */
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
