import { isRecord } from './values.js';

/*
 * Display scripts: the part of the Rhai language that gives the human line of a call. Literals, `let`, `if`, `+`, comparisons, members
 * and some methods of texts. Other parts of the language are unsupported, not invalid.
 */

/** Maximum steps of an evaluation, characters of one text and of all texts, nested evaluations, script length and nesting depth. */
const MAX = { steps: 5_000, text: 100_000, work: 1_000_000, runs: 300, script: 16_384, depth: 60 };

/** Syntax error in the script; the message contains the reason and the line. */
class SyntaxFault extends Error {}

class Unsupported extends Error {}

/** Ends an evaluation without a result. */
class NoLine extends Error {}

function fail(): never {
  throw new NoLine();
}

interface Token {
  readonly kind: 'number' | 'string' | 'name' | 'sign' | 'end';
  readonly text: string;
  readonly at: number;
}

const TOKEN = new RegExp(
  [
    /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//,
    /(?<number>\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)/,
    /(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/,
    /(?<name>[A-Za-z_]\w*)/,
    /(?<sign>\.\.=?|=>|::|\*\*|<<|>>|#\{|[=!<>+\-*/%]=|&&|\|\||\?\?|\?\.|\?\[|[(){}[\]+\-*/%=<>!,;:.&|^])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gy',
);

const UNSUPPORTED =
  /^(?:\.\.=?|=>|::|\*\*|<<|>>|#\{|[-*/%]=|\?[?.[]|[*/%&|^:]|fn|for|while|loop|do|switch|import|export|try|throw|in|is|private|this|break|continue|eval|Fn|static|var|const|return)$/;

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const { 0: whole, index: at, groups = {} } of source.matchAll(TOKEN)) {
    end = at + whole.length;
    const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    if (!kind || text === undefined) continue;
    if (UNSUPPORTED.test(text)) throw new Unsupported();
    tokens.push({ kind: kind as Token['kind'], text, at });
  }
  const rest = source.slice(end);
  if (rest.startsWith('`')) throw new Unsupported(); // a template
  if (/^["']/.test(rest)) throw faultAt(source, end, 'unterminated string');
  if (rest !== '') throw faultAt(source, end, `unexpected ${JSON.stringify(rest[0])}`);
  return [...tokens, { kind: 'end', text: '', at: end }];
}

function faultAt(source: string, at: number, reason: string): SyntaxFault {
  return new SyntaxFault(`${reason} in line ${source.slice(0, at).split('\n').length}`);
}

const ESCAPE = /\\(?:x([\da-f]{2})|u([\da-f]{4})|U(00[01][\da-f]{5})|(.))/gi;

const ESCAPES = new Map(
  [...'\\"\'`', ...'ntr'].map(letter => [letter, { n: '\n', t: '\t', r: '\r' }[letter] ?? letter]),
);

function unescaped(written: string, fault: (reason: string) => Error): string {
  return written.replace(ESCAPE, (_, x, u, long, letter) => {
    if (letter === undefined) return String.fromCodePoint(Number.parseInt(x ?? u ?? long, 16));
    const meant = ESCAPES.get(letter);
    if (meant === undefined) throw fault(`unknown escape \\${letter}`);
    return meant;
  });
}

/** A part of a script: how to get its value, and to set it if it is a variable. */
interface Node {
  readonly get: (run: Evaluation) => unknown;
  readonly set?: (run: Evaluation, value: unknown) => void;
  /** A block or an `if`, which needs no semicolon after it. */
  readonly isBlock?: true;
}

const literal = (value: unknown): Node => ({ get: () => value });

const UNIT = literal(null);

const PRECEDENCE = new Map(
  [['||'], ['&&'], ['==', '!='], ['<', '<=', '>', '>='], ['+', '-']].flatMap((operators, level) =>
    operators.map((operator): [string, number] => [operator, level + 1]),
  ),
);

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(private readonly source: string) {
    this.#tokens = tokensOf(source);
  }

  get #token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', at: this.source.length };
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
      if (!this.#take(';')) body.push(this.#statement());
      const isBlock = body.at(-1)?.isBlock ?? false;
      hasValue = !this.#take(';');
      if (hasValue && !isBlock && !this.#isOver()) throw this.#unexpected();
    }
    return { get: run => run.block(body, hasValue), isBlock: true };
  }

  #isOver(): boolean {
    return this.#token.kind === 'end' || this.#isAt('}');
  }

  #statement(): Node {
    if (this.#take('let')) {
      const name = this.#name();
      const value = this.#take('=') ? this.#expression() : UNIT;
      return { get: run => run.declare(name, run.value(value)) };
    }
    const target = this.#expression();
    const isAdded = this.#take('+=');
    if (!isAdded && !this.#take('=')) return target;
    const value = this.#expression();
    return {
      get: run =>
        run.store(
          target,
          isAdded ? run.combined('+', run.value(target), run.value(value)) : run.value(value),
        ),
    };
  }

  #expression(level = 1): Node {
    return this.#deeper(() => {
      let left = this.#unary();
      for (;;) {
        const { kind, text: operator } = this.#token;
        const precedence = kind === 'sign' ? (PRECEDENCE.get(operator) ?? 0) : 0;
        if (precedence < level) return left;
        this.#at++;
        const [first, second] = [left, this.#expression(precedence + 1)];
        left = { get: run => run.binary(operator, first, second) };
      }
    });
  }

  #unary(): Node {
    if (this.#isAt('!') || this.#isAt('-')) {
      const isNegation = this.#take('!') || !this.#take('-');
      const operand = this.#deeper(() => this.#unary());
      return isNegation
        ? { get: run => !isTrue(run.value(operand)) }
        : { get: run => run.combined('-', 0, run.value(operand)) };
    }
    return this.#postfix(this.#primary());
  }

  #postfix(start: Node): Node {
    let node = start;
    for (;;) {
      if (this.#take('.')) {
        const name = this.#name();
        node = this.#isAt('(') ? call(name, [node, ...this.#arguments()]) : member(node, literal(name));
      } else if (this.#take('[')) {
        node = member(node, this.#expression());
        this.#expect(']');
      } else return node;
    }
  }

  #primary(): Node {
    const { kind, text, at } = this.#token;
    if (this.#take('if')) return this.#if();
    if (this.#take('(')) {
      if (this.#take(')')) return UNIT;
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#isAt('{')) return this.#block();
    if (this.#isAt('[')) throw new Unsupported(); // an array
    if (kind === 'sign' || kind === 'end') throw this.#unexpected();
    this.#at++;
    if (kind === 'number') return literal(Number(text.replaceAll('_', '')));
    if (kind === 'string')
      return literal(unescaped(text.slice(1, -1), reason => faultAt(this.source, at, reason)));
    if (text === 'true' || text === 'false') return literal(text === 'true');
    if (this.#isAt('(')) return call(text, this.#arguments());
    return {
      get: run => run.scopeOf(text).get(text),
      set: (run, value) => run.scopeOf(text).set(text, value),
    };
  }

  #if(): Node {
    return this.#deeper(() => {
      const test = this.#expression();
      const then = this.#block();
      const otherwise = this.#take('else') ? (this.#take('if') ? this.#if() : this.#block()) : UNIT;
      return { get: run => run.value(isTrue(run.value(test)) ? then : otherwise), isBlock: true };
    });
  }

  #block(): Node {
    this.#expect('{');
    const body = this.#deeper(() => this.#statements());
    this.#expect('}');
    return body;
  }

  #arguments(): Node[] {
    this.#expect('(');
    const args: Node[] = [];
    while (!this.#take(')')) {
      args.push(this.#expression());
      if (!this.#isAt(')')) this.#expect(',');
    }
    return args;
  }

  #deeper(parse: () => Node): Node {
    if (++this.#depth > MAX.depth) throw new Unsupported();
    const node = parse();
    this.#depth--;
    return node;
  }

  #name(): string {
    const { kind, text } = this.#token;
    if (kind !== 'name') throw this.#unexpected();
    this.#at++;
    return text;
  }

  #isAt(text: string): boolean {
    const { kind, text: here } = this.#token;
    return here === text && (kind === 'sign' || kind === 'name');
  }

  #take(text: string): boolean {
    const isHere = this.#isAt(text);
    if (isHere) this.#at++;
    return isHere;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.#unexpected();
  }

  #unexpected(): SyntaxFault {
    const { kind, text, at } = this.#token;
    return faultAt(this.source, at, kind === 'end' ? 'unexpected end' : `unexpected ${text}`);
  }
}

function member(object: Node, key: Node): Node {
  return { get: run => run.member(run.value(object), run.value(key)) };
}

function call(name: string, [subject, ...args]: readonly Node[]): Node {
  return { get: run => run.call(name, subject ?? fail(), args) };
}

type TextMethod = (run: Evaluation, text: string, first: unknown, second: unknown) => unknown;

const TEXT_METHODS: Readonly<Record<string, TextMethod>> = {
  to_upper: (_, text) => text.toUpperCase(),
  to_lower: (_, text) => text.toLowerCase(),
  contains: (_, text, part) => text.includes(textOf(part)),
  split: (_, text, separator) =>
    separator === undefined
      ? text.split(/\s+/).filter(part => part !== '')
      : text.split(textOf(separator) || fail()),
  sub_string(run, text, start, length = MAX.text) {
    if (typeof start !== 'number' || typeof length !== 'number') return fail();
    const characters = run.characters(text);
    const from = start < 0 ? Math.max(0, characters.length + start) : start;
    return characters.slice(from, from + Math.max(0, length)).join('');
  },
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : fail());

const isTrue = (value: unknown): boolean => (typeof value === 'boolean' ? value : fail());

class Evaluation {
  readonly #scopes: Map<string, unknown>[];
  #steps = 0;
  #work = 0;
  #depth = 0;

  constructor(args: Readonly<Record<string, unknown>>) {
    this.#scopes = [new Map([['args', args]])];
  }

  value(node: Node): unknown {
    if (++this.#steps > MAX.steps || ++this.#depth > MAX.runs) fail();
    const value = node.get(this);
    this.#depth--;
    return value;
  }

  block(body: readonly Node[], hasValue: boolean): unknown {
    this.#scopes.push(new Map());
    let value: unknown = null;
    for (const statement of body) value = this.value(statement);
    this.#scopes.pop();
    return hasValue ? value : null;
  }

  declare(name: string, value: unknown): null {
    this.#scopes.at(-1)?.set(name, value);
    return null;
  }

  scopeOf(name: string): Map<string, unknown> {
    return this.#scopes.findLast(scope => scope.has(name)) ?? fail();
  }

  store(target: Node, value: unknown): null {
    (target.set ?? fail)(this, value);
    return null;
  }

  /** A missing member of an object is `()`; a text is indexed by characters, from its end if the index is negative. */
  member(object: unknown, key: unknown): unknown {
    if (isRecord(object) && typeof key === 'string') return Object.hasOwn(object, key) ? object[key] : null;
    if (key === 'len') return this.#length(object);
    const items = typeof object === 'string' ? this.characters(object) : object;
    if (typeof key !== 'number' || !Array.isArray(items)) return fail();
    const index = key < 0 ? items.length + key : key;
    return index in items ? items[index] : fail();
  }

  call(name: string, target: Node, nodes: readonly Node[]): unknown {
    const subject = this.value(target);
    const [first, second] = nodes.map(node => this.value(node));
    if (name === 'len') return this.#length(subject);
    const text = this.text(textOf(subject));
    if (name === 'trim') return this.store(target, text.trim()); // in place, as in Rhai
    return Object.hasOwn(TEXT_METHODS, name) ? TEXT_METHODS[name]?.(this, text, first, second) : fail();
  }

  binary(operator: string, first: Node, second: Node): unknown {
    const left = this.value(first);
    if (operator === '&&') return isTrue(left) && isTrue(this.value(second));
    if (operator === '||') return isTrue(left) || isTrue(this.value(second));
    return this.combined(operator, left, this.value(second));
  }

  combined(operator: string, left: unknown, right: unknown): unknown {
    if (operator === '==') return left === right;
    if (operator === '!=') return left !== right;
    if (operator === '+' && (typeof left === 'string' || typeof right === 'string'))
      return this.text(this.shown(left) + this.shown(right));
    if (typeof left === 'number' && typeof right === 'number')
      return operator === '+'
        ? left + right
        : operator === '-'
          ? left - right
          : isOrdered(operator, left, right);
    return typeof left === 'string' && typeof right === 'string' && operator !== '-'
      ? isOrdered(operator, left, right)
      : fail();
  }

  /** Formats a value as Rhai prints it; `()` is empty. */
  shown(value: unknown): string {
    if (value === null) return '';
    return typeof value === 'object' ? fail() : this.text(String(value));
  }

  characters(text: string): string[] {
    return Array.from(this.text(text));
  }

  text(text: string): string {
    return this.#spend(text.length) > MAX.text ? fail() : text;
  }

  #length(value: unknown): number {
    if (typeof value === 'string') return this.characters(value).length;
    if (Array.isArray(value)) return value.length;
    return isRecord(value) ? this.#spend(Object.keys(value).length) : fail();
  }

  #spend(size: number): number {
    this.#work += size;
    return this.#work > MAX.work ? fail() : size;
  }
}

function isOrdered<Value extends string | number>(operator: string, left: Value, right: Value): boolean {
  const isBefore = operator.startsWith('<') ? left < right : left > right;
  return isBefore || (operator.endsWith('=') && left === right);
}

type ParsedScript =
  | { readonly kind: 'parsed'; readonly program: Node }
  | { readonly kind: 'unsupported' }
  /** A syntax error with its line. */
  | { readonly kind: 'invalid'; readonly reason: string };

export function parseDisplayScript(source: string): ParsedScript {
  if (source.length > MAX.script) return { kind: 'unsupported' };
  try {
    return { kind: 'parsed', program: new Parser(source).program() };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: 'unsupported' };
    if (error instanceof SyntaxFault) return { kind: 'invalid', reason: error.message };
    throw error;
  }
}

let latest: { readonly script: string; readonly parsed: ParsedScript } | null = null;

/**
 * The display line of a call from its tool's display script; null without a script, or if it is unsupported, fails, or takes too long.
 * The script can read only the arguments.
 */
export function displayLine(
  script: string | undefined,
  args: Readonly<Record<string, unknown>>,
): string | null {
  if (script === undefined) return null;
  if (latest?.script !== script) latest = { script, parsed: parseDisplayScript(script) }; // consecutive calls often use the same tool
  if (latest.parsed.kind !== 'parsed') return null;
  try {
    const value = new Evaluation(args).value(latest.parsed.program);
    return typeof value === 'string' && value.trim() !== '' ? value : null;
  } catch (error) {
    if (error instanceof NoLine) return null;
    throw error;
  }
}
