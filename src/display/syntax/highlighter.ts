import { bounded, OutOfTime } from '../../text/bounded.js';
import { RecentMap } from '../../text/recent-map.js';
import type { Rows } from '../diff/model.js';
import { HunkTokens, type Lexer } from './hunk-tokens.js';
import { languageOf } from './language.js';
import type { Token } from './token.js';

/** Ordinary code takes a tenth of it; a text that is made to be hard for a grammar takes as long as it is let. */
const LIMIT_MS = 300;

/** Hunks that are remembered: more than a screen shows, few enough that a long diff costs no more than a short one. */
const REMEMBERED = 16;

/** Knows languages. What it has lately read it remembers. */
export class Highlighter {
  readonly #hunks = new RecentMap<Rows, HunkTokens>(REMEMBERED);
  #isOutOfTime = false;

  constructor(private readonly lexerOf: (language: string) => Lexer) {}

  /**
   * A row of a hunk in pieces that make up its text; null where it is to be shown as it is: in a language that is not known,
   * and where reading it would take too long.
   * @param path of the file, whose name tells its language
   */
  tokensOf(path: string, rows: Rows, index: number): readonly Token[] | null {
    const language = languageOf(path);
    if (language === undefined) return null;
    return this.#hunkOf(rows, language).of(index);
  }

  #hunkOf(rows: Rows, language: string): HunkTokens {
    const known = this.#hunks.get(rows);
    if (known) return known;
    const hunk = new HunkTokens(rows, text => this.#read(text, this.lexerOf(language)));
    this.#hunks.set(rows, hunk);
    return hunk;
  }

  /** Colour is not worth waiting for: once time ran out, nothing is read any more. */
  #read(text: string, lexer: Lexer): readonly Token[] {
    if (this.#isOutOfTime) return [];
    try {
      return bounded(() => lexer(text), LIMIT_MS);
    } catch (error) {
      this.#isOutOfTime = error instanceof OutOfTime;
      return [];
    }
  }
}
