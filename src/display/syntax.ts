import { RecentMap } from '../util/collections.js';
import { bounded, OutOfTime } from '../util/time-limit.js';
import type { RowKind, Rows } from './diff.js';
import type { Drawing } from './segments.js';
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

/** Languages by file extension and file name; limited to those that `lowlight` calls common. */
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

/** The language of a file, by its name only; undefined if unknown. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_ENDING.get(name.slice(name.lastIndexOf('.') + 1));
}

/** Time limit per text. Ordinary code takes a tenth of it; text that is crafted to be slow would take forever. */
const LIMIT_MS = 300;

/** Number of hunks cached: more than a screen shows, but few enough that long diffs cost no more than short ones. */
const REMEMBERED = 16;

/** Highlights code, and caches recent hunks. */
export class Highlighter {
  readonly #hunks = new RecentMap<Rows, HunkTokens>(REMEMBERED);
  #isOutOfTime = false;

  constructor(private readonly lexerOf: (language: string) => Lexer) {}

  /**
   * The tokens of a row, which join to its text; null if the language is unknown, or if reading it would take too long.
   * @param path of the file, whose name determines the language
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

  /** After a timeout, no further code is highlighted. */
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

/** Loads the highlighter for some drawings; null if they contain no code in a known language. */
export async function loadHighlighter(drawings: readonly Drawing[]): Promise<Highlighter | null> {
  if (!drawings.some(hasKnownCode)) return null;
  const { lexerOf } = await loadLexers();
  return new Highlighter(lexerOf);
}

/** Takes about 20 ms, once: call it early, while the program waits for something else. */
export function loadLexers() {
  return import('./syntax-lexers.js');
}

function hasKnownCode(drawing: Drawing): boolean {
  return (
    drawing.kind === 'diff' && drawing.diff.files.some(({ newPath }) => languageOf(newPath) !== undefined)
  );
}
