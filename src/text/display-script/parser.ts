/*
 * Parses the part of the Rhai language that display scripts use: literals, `let`, `if`, operators, members, calls. A script that uses
 * more of the language is unsupported, which is no fault of its author.
 */
import { Scanner, SyntaxFault, type Token, Unsupported } from './tokens.js';

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
