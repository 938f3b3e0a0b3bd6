/** The script cannot be parsed; the message says why, and in which line. */
class SyntaxFault extends Error {}
/** The script uses a part of the language that is not supported. */
class Unsupported extends Error {}

interface Token {
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
class Scanner {
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

/*
 * Parses the part of the Rhai language that display scripts use: literals, `let`, `if`, operators, members, calls. Other parts of the
 * language are unsupported, not invalid.
 */

export type Node =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'text'; readonly parts: readonly Node[] }
  | { readonly kind: 'member'; readonly object: Node; readonly key: Node; readonly isSafe: boolean }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly target: Node | null;
      readonly args: readonly Node[];
    }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: Node }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Node; readonly right: Node }
  | { readonly kind: 'if'; readonly test: Node; readonly then: Node; readonly otherwise: Node | null }
  | { readonly kind: 'block'; readonly body: readonly Node[]; readonly hasValue: boolean }
  | { readonly kind: 'let'; readonly name: string; readonly value: Node }
  | { readonly kind: 'assign'; readonly target: Node; readonly operator: string; readonly value: Node }
  | { readonly kind: 'return'; readonly value: Node };

export type ParsedScript =
  | { readonly kind: 'parsed'; readonly program: Node }
  | { readonly kind: 'unsupported' }
  /** With its line. */
  | { readonly kind: 'invalid'; readonly reason: string };

const MOST = { characters: 16_384, depth: 60 };

const UNIT: Node = { kind: 'value', value: null };

export function parseDisplayScript(source: string): ParsedScript {
  if (source.length > MOST.characters) return { kind: 'unsupported' };
  try {
    return { kind: 'parsed', program: new Parser(source, 0).program() };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: 'unsupported' };
    if (error instanceof SyntaxFault) return { kind: 'invalid', reason: error.message };
    throw error;
  }
}

const UNSUPPORTED_SIGNS = new Set(['..', '..=', '=>', '::', '**', '<<', '>>', '#{', '&', '|', '^', ':']);
const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=']);
const PRECEDENCE = new Map(
  [['||'], ['&&'], ['==', '!='], ['<', '<=', '>', '>='], ['??'], ['+', '-'], ['*', '/', '%']].flatMap(
    (operators, level) => operators.map((operator): [string, number] => [operator, level + 1]),
  ),
);
class Parser {
  readonly #scanner: Scanner;
  #token: Token;

  constructor(
    source: string,
    private depth: number,
  ) {
    this.#scanner = new Scanner(source);
    this.#token = this.#scanner.read();
  }

  program(): Node {
    const body = this.#statements();
    if (this.#token.kind !== 'end') throw this.#unexpected();
    return body;
  }

  #statements(): Node {
    const body: Node[] = [];
    let hasValue = false;
    while (!this.#isOver()) {
      if (this.#take(';')) {
        hasValue = false;
        continue;
      }
      const statement = this.#statement();
      body.push(statement);
      hasValue = !this.#take(';');
      const endsItself = statement.kind === 'if' || statement.kind === 'block';
      if (hasValue && !endsItself && !this.#isOver()) throw this.#unexpected();
    }
    return { kind: 'block', body, hasValue };
  }

  /** At the end of the script or of a block. */
  #isOver(): boolean {
    return this.#token.kind === 'end' || this.#isSign('}');
  }

  #statement(): Node {
    if (this.#takeName('let') || this.#takeName('const')) {
      const name = this.#name();
      return { kind: 'let', name, value: this.#take('=') ? this.#expression() : UNIT };
    }
    if (this.#takeName('return')) {
      const isBare = this.#isOver() || this.#isSign(';');
      return { kind: 'return', value: isBare ? UNIT : this.#expression() };
    }
    const target = this.#expression();
    const { text: operator } = this.#token;
    if (this.#token.kind !== 'sign' || !ASSIGNMENTS.has(operator)) return target;
    this.#next();
    return { kind: 'assign', target, operator, value: this.#expression() };
  }

  #expression(level = 1): Node {
    if (++this.depth > MOST.depth) throw new Unsupported();
    let left = this.#unary();
    for (;;) {
      const { kind, text: operator } = this.#token;
      const precedence = kind === 'sign' ? (PRECEDENCE.get(operator) ?? 0) : 0;
      if (precedence < level) break;
      this.#next();
      left = { kind: 'binary', operator, left, right: this.#expression(precedence + 1) };
    }
    this.depth--;
    return left;
  }

  #unary(): Node {
    for (const operator of ['!', '-', '+'])
      if (this.#take(operator)) {
        if (++this.depth > MOST.depth) throw new Unsupported();
        const operand = this.#unary();
        this.depth--;
        return { kind: 'unary', operator, operand };
      }
    return this.#postfix(this.#primary());
  }

  #postfix(start: Node): Node {
    let node = start;
    for (;;) {
      const isSafe = this.#isSign('?.') || this.#isSign('?[');
      if (this.#take('.') || this.#take('?.')) {
        const name = this.#name();
        node = this.#isSign('(')
          ? { kind: 'call', name, target: node, args: this.#arguments() }
          : { kind: 'member', object: node, key: { kind: 'value', value: name }, isSafe };
      } else if (this.#take('[') || this.#take('?[')) {
        node = { kind: 'member', object: node, key: this.#expression(), isSafe };
        this.#expect(']');
      } else return node;
    }
  }

  #primary(): Node {
    const { kind, text, pieces } = this.#token;
    if (this.#takeName('if')) return this.#if();
    if (this.#take('(')) {
      if (this.#take(')')) return UNIT;
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#isSign('{')) return this.#block();
    if (this.#isSign('[')) throw new Unsupported(); // an array
    if (kind === 'sign' || kind === 'end') throw this.#unexpected();
    this.#next();
    if (kind === 'number') return { kind: 'value', value: Number(text.replaceAll('_', '')) };
    if (kind === 'text') return this.#text(pieces ?? []);
    if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true' };
    if (this.#isSign('(')) return { kind: 'call', name: text, target: null, args: this.#arguments() };
    return { kind: 'name', name: text };
  }

  #text(pieces: readonly string[]): Node {
    const parts = pieces.map(
      (piece, index): Node =>
        index % 2 === 0 ? { kind: 'value', value: piece } : new Parser(piece, this.depth + 1).program(),
    );
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'text', parts };
  }

  #if(): Node {
    const test = this.#expression();
    const then = this.#block();
    if (!this.#takeName('else')) return { kind: 'if', test, then, otherwise: null };
    if (!this.#takeName('if')) return { kind: 'if', test, then, otherwise: this.#block() };
    if (++this.depth > MOST.depth) throw new Unsupported();
    const otherwise = this.#if();
    this.depth--;
    return { kind: 'if', test, then, otherwise };
  }

  #block(): Node {
    this.#expect('{');
    if (++this.depth > MOST.depth) throw new Unsupported();
    const body = this.#statements();
    this.depth--;
    this.#expect('}');
    return body;
  }

  #arguments(): Node[] {
    this.#expect('(');
    const args: Node[] = [];
    while (!this.#take(')')) {
      args.push(this.#expression());
      if (!this.#isSign(')')) this.#expect(',');
    }
    return args;
  }

  #name(): string {
    const { kind, text } = this.#token;
    if (kind !== 'name') throw this.#unexpected();
    this.#next();
    return text;
  }

  #isSign(sign: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === sign;
  }

  #take(sign: string): boolean {
    if (!this.#isSign(sign)) return false;
    this.#next();
    return true;
  }

  #takeName(name: string): boolean {
    if (this.#token.kind !== 'name' || this.#token.text !== name) return false;
    this.#next();
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.#unexpected();
  }

  #next(): void {
    this.#token = this.#scanner.read();
  }

  #unexpected(): Error {
    const { kind, text, at } = this.#token;
    const isUnsupported = kind === 'sign' && UNSUPPORTED_SIGNS.has(text);
    return isUnsupported
      ? new Unsupported()
      : this.#scanner.fault(kind === 'end' ? 'unexpected end' : `unexpected ${text}`, at);
  }
}
