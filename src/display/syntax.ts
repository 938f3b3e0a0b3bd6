import { RecentMap } from '../util/collections.js';
import { bounded, OutOfTime } from '../util/time-limit.js';
import type { RowKind, Rows } from './diff.js';
import type { Drawing } from './segments.js';
import type { Lexer, Token } from './syntax-lexers.js';

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

/** Languages by the endings and the names of their files; those that `lowlight` calls common. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  arduino: 'ino',
  bash: 'bash sh zsh ksh bashrc zshrc profile',
  c: 'c h',
  cpp: 'cpp cc cxx c++ hpp hh hxx h++',
  csharp: 'cs',
  css: 'css',
  go: 'go',
  graphql: 'graphql gql',
  ini: 'ini toml cfg conf editorconfig gitconfig',
  java: 'java',
  javascript: 'js jsx mjs cjs',
  json: 'json jsonc json5 webmanifest',
  kotlin: 'kt kts',
  less: 'less',
  lua: 'lua',
  makefile: 'mk mak makefile gnumakefile',
  markdown: 'md markdown mkd',
  objectivec: 'm mm',
  perl: 'pl pm',
  php: 'php',
  python: 'py pyi pyw gyp',
  r: 'r',
  ruby: 'rb rake gemspec gemfile rakefile podspec',
  rust: 'rs',
  scss: 'scss',
  sql: 'sql',
  swift: 'swift',
  typescript: 'ts tsx mts cts',
  vbnet: 'vb',
  wasm: 'wat wast',
  xml: 'xml html htm xhtml svg rss atom xsl xsd plist vue svelte',
  yaml: 'yaml yml',
};

const BY_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, endings]) =>
    endings.split(' ').map((ending): [string, string] => [ending, language]),
  ),
);

/** The language of a file, by its name alone; undefined where that says nothing. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_ENDING.get(name.slice(name.lastIndexOf('.') + 1));
}

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

/**
 * The highlighter for what is to be drawn, to be awaited once before; null without code in a known language.
 */
export async function loadHighlighter(drawings: readonly Drawing[]): Promise<Highlighter | null> {
  if (!drawings.some(hasKnownCode)) return null;
  const { lexerOf } = await loadLexers();
  return new Highlighter(lexerOf);
}

/** Takes some 20 ms, once: good to have done where there is something to wait for. */
export function loadLexers() {
  return import('./syntax-lexers.js');
}

function hasKnownCode(drawing: Drawing): boolean {
  return (
    drawing.kind === 'diff' && drawing.diff.files.some(({ newPath }) => languageOf(newPath) !== undefined)
  );
}
