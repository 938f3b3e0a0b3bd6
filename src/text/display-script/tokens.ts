/** The script cannot be parsed; the message says why, and in which line. */
export class SyntaxFault extends Error {}
/** The script uses a part of the language that is not supported. */
export class Unsupported extends Error {}

export interface Token {
  readonly kind: 'number' | 'text' | 'name' | 'sign' | 'end';
  readonly text: string;
  readonly at: number;
  /** Of a text: its pieces. Those with an odd index are expressions of a template. */
  readonly pieces?: readonly string[];
}

const SPACE = /(?:\s|\/\/[^\n]*)+/y;
const NUMBER = /\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_]\w*/y;
const SIGN = /\.\.=?|=>|::|\*\*|<<|>>|#\{|[=!<>+\-*/%]=|&&|\|\||\?\?|\?\.|\?\[|[(){}[\]+\-*/%=<>!,;:.&|^]/y;

const RESERVED = new Set(
  'fn for while loop do switch import export try throw in is private this break continue eval Fn static var'.split(
    ' ',
  ),
);
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
};

/** Splits a script into tokens. */
export class Scanner {
  #at = 0;

  constructor(private readonly source: string) {}

  fault(reason: string, at: number): SyntaxFault {
    return new SyntaxFault(`${reason} in line ${this.source.slice(0, at).split('\n').length}`);
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.source)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  read(): Token {
    while (this.#match(SPACE) !== null || this.#comment());
    const at = this.#at;
    const first = this.source[at];
    if (first === undefined) return { kind: 'end', text: '', at };
    if (first === '"' || first === "'" || first === '`')
      return { kind: 'text', text: first, at, pieces: this.#pieces(first) };
    const number = this.#match(NUMBER);
    if (number !== null) return { kind: 'number', text: number, at };
    const name = this.#match(NAME);
    if (name !== null && RESERVED.has(name)) throw new Unsupported();
    if (name !== null) return { kind: 'name', text: name, at };
    const sign = this.#match(SIGN);
    if (sign === null) throw this.fault(`unexpected ${JSON.stringify(first)}`, at);
    return { kind: 'sign', text: sign, at };
  }

  /** Block comments nest. */
  #comment(): boolean {
    if (!this.source.startsWith('/*', this.#at)) return false;
    const from = this.#at;
    let open = 0;
    do {
      const isOpening = this.source.startsWith('/*', this.#at);
      const isClosing = this.source.startsWith('*/', this.#at);
      if (this.#at >= this.source.length) throw this.fault('unterminated comment', from);
      open += isOpening ? 1 : isClosing ? -1 : 0;
      this.#at += isOpening || isClosing ? 2 : 1;
    } while (open > 0);
    return true;
  }

  /** The pieces of a string; between them are the expressions of a template. */
  #pieces(quote: string): string[] {
    const from = this.#at++;
    if (quote === '`') return this.#template(from);
    let text = '';
    for (;;) {
      const character = this.source[this.#at++];
      if (character === quote) return [text];
      if (character === undefined || character === '\n') throw this.fault('unterminated string', from);
      text += character === '\\' ? this.#escape(from) : character;
    }
  }

  #template(from: number): string[] {
    const pieces: string[] = [];
    let text = '';
    for (;;) {
      const character = this.source[this.#at++];
      if (character === undefined) throw this.fault('unterminated string', from);
      const next = this.source[this.#at];
      if (character === '`' && next !== '`') return [...pieces, text];
      if (character === '$' && next === '{') {
        pieces.push(text, this.#hole(from));
        text = '';
        continue;
      }
      if (character === '`') this.#at++; // two stand for one
      text += character;
    }
  }

  #escape(from: number): string {
    const letter = this.source[this.#at++] ?? '';
    const known = ESCAPES[letter];
    if (known !== undefined) return known;
    const digits = { x: 2, u: 4, U: 8 }[letter];
    const code = digits === undefined ? '' : this.source.slice(this.#at, this.#at + digits);
    if (digits === undefined || !/^[\da-f]+$/i.test(code) || Number.parseInt(code, 16) > 0x10_ff_ff)
      throw this.fault(`unknown escape \\${letter}`, from);
    this.#at += digits;
    return String.fromCodePoint(Number.parseInt(code, 16));
  }

  /** The expression in `${…}`: up to its closing brace. */
  #hole(from: number): string {
    const begin = ++this.#at;
    for (let open = 1; open > 0; ) {
      const character = this.source[this.#at++];
      if (character === undefined) throw this.fault('unterminated string', from);
      if (character === '`' || character === '"') throw new Unsupported(); // a string in a template
      open += character === '{' ? 1 : character === '}' ? -1 : 0;
    }
    return this.source.slice(begin, this.#at - 1);
  }
}
