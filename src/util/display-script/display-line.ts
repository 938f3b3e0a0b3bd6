import { isRecord } from '../values.js';
import { type Node, type ParsedScript, parseDisplayScript } from './parser.js';

/** The operators of display scripts that compare; null for another operator. */
function compared<Value extends string | number>(
  operator: string,
  left: Value,
  right: Value,
): boolean | null {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return null;
  }
}

/** The arithmetic operators; whole numbers are divided as such. Null for another operator, and for a division by zero. */
function calculated(operator: string, left: number, right: number): number | null {
  const isWhole = Number.isInteger(left) && Number.isInteger(right);
  if (isWhole && right === 0 && (operator === '/' || operator === '%')) return null;
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return isWhole ? Math.trunc(left / right) : left / right;
    default:
      return operator === '%' ? left % right : null;
  }
}

/** Steps of one evaluation; characters of a text, and of all texts that are read or made; nested evaluations. */
const MOST = { steps: 5_000, text: 100_000, work: 1_000_000, depth: 300 };

type Arguments = Readonly<Record<string, unknown>>;

/** Ends the script, with a value or null. */
class Result extends Error {
  constructor(readonly value: unknown) {
    super();
  }
}

/**
 * The human line of a call from its tool's display script (a subset of Rhai); null without a script, or if it is unsupported, fails, or
 * takes too long. The script sees only the arguments.
 */
export function displayLine(script: string | undefined, args: Arguments): string | null {
  if (script === undefined) return null;
  const parsed = parsedOf(script);
  if (parsed.kind !== 'parsed') return null;
  let value: unknown;
  try {
    value = new Evaluation(args).run(parsed.program);
  } catch (error) {
    if (!(error instanceof Result)) throw error;
    value = error.value;
  }
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

let latest: { readonly script: string; readonly parsed: ParsedScript } | null = null;

/** Calls of one tool come one after the other. */
function parsedOf(script: string): ParsedScript {
  if (latest?.script !== script) latest = { script, parsed: parseDisplayScript(script) };
  return latest.parsed;
}

const SEARCHES = {
  contains: (text: string, part: string) => text.includes(part),
  starts_with: (text: string, part: string) => text.startsWith(part),
  ends_with: (text: string, part: string) => text.endsWith(part),
};

const fail = (): never => {
  throw new Result(null);
};

class Evaluation {
  readonly #scopes: Map<string, unknown>[];
  #steps = 0;
  #work = 0;
  #depth = 0;

  constructor(args: Arguments) {
    this.#scopes = [new Map([['args', args]])];
  }

  run(node: Node): unknown {
    if (++this.#steps > MOST.steps || ++this.#depth > MOST.depth) fail();
    const value = this.#valueOf(node);
    this.#depth--;
    return value;
  }

  #valueOf(node: Node): unknown {
    switch (node.kind) {
      case 'value':
        return node.value;
      case 'name':
        return this.#scopeOf(node.name).get(node.name);
      case 'text':
        return this.#text(node.parts.map(part => this.#shown(this.run(part))).join(''));
      case 'member':
        return this.#member(this.run(node.object), this.run(node.key), node.isSafe);
      case 'call':
        return this.#call(node);
      case 'unary':
        return this.#unary(node.operator, this.run(node.operand));
      case 'binary':
        return this.#binary(node);
      case 'if':
        if (isTrue(this.run(node.test))) return this.run(node.then);
        return node.otherwise ? this.run(node.otherwise) : null;
      case 'block':
        return this.#block(node);
      case 'let':
        this.#scopes.at(-1)?.set(node.name, this.run(node.value));
        return null;
      case 'assign':
        this.#assign(node);
        return null;
      case 'return':
        throw new Result(this.run(node.value));
    }
  }

  #block({ body, hasValue }: Extract<Node, { kind: 'block' }>): unknown {
    this.#scopes.push(new Map());
    let value: unknown = null;
    for (const statement of body) value = this.run(statement);
    this.#scopes.pop();
    return hasValue ? value : null;
  }

  #scopeOf(name: string): Map<string, unknown> {
    return this.#scopes.findLast(scope => scope.has(name)) ?? fail();
  }

  #assign({ target, operator, value: node }: Extract<Node, { kind: 'assign' }>): void {
    const value = this.run(node);
    const sign = operator.slice(0, -1);
    this.#store(target, sign === '' ? value : this.#combined(sign, this.run(target), value));
  }

  /** Objects are copied: the arguments stay as they are. */
  #store(target: Node, value: unknown): void {
    if (target.kind === 'name') this.#scopeOf(target.name).set(target.name, value);
    else if (target.kind === 'member') {
      const object = this.run(target.object);
      const key = this.run(target.key);
      if (!isRecord(object) || typeof key !== 'string' || key === '__proto__') throw new Result(null);
      this.#spend(Object.keys(object).length);
      this.#store(target.object, { ...object, [key]: value });
    } else throw new Result(null);
  }

  /** A member of an object that is not there is `()`; a text is indexed by characters, from its end where the index is negative. */
  #member(object: unknown, key: unknown, isSafe: boolean): unknown {
    if (object === null && isSafe) return null;
    if (isRecord(object) && typeof key === 'string') return Object.hasOwn(object, key) ? object[key] : null;
    if (key === 'len') return this.#length(object);
    if (typeof key !== 'number') return fail();
    const items = typeof object === 'string' ? this.#characters(object) : object;
    if (!Array.isArray(items)) return fail();
    const index = key < 0 ? items.length + key : key;
    return index in items ? items[index] : fail();
  }

  #call({ name, target, args: nodes }: Extract<Node, { kind: 'call' }>): unknown {
    const [first, ...others] = target ? [target, ...nodes] : nodes;
    if (!first) return fail();
    const subject = this.run(first);
    const args = others.map(each => this.run(each));
    if (name === 'trim' && typeof subject === 'string') {
      this.#store(first, this.#text(subject).trim()); // in place, as in Rhai
      return null;
    }
    if (name === 'len') return this.#length(subject);
    if (name === 'to_string') return this.#shown(subject);
    if (name === 'contains' && Array.isArray(subject)) return subject.slice(0, MOST.steps).includes(args[0]);
    if (name === 'contains' && isRecord(subject)) return Object.hasOwn(subject, String(args[0]));
    if (typeof subject !== 'string') return fail();
    return this.#ofText(name, this.#text(subject), args);
  }

  #ofText(name: string, text: string, [first, second]: readonly unknown[]): unknown {
    switch (name) {
      case 'to_upper':
        return text.toUpperCase();
      case 'to_lower':
        return text.toLowerCase();
      case 'is_empty':
        return text === '';
      case 'sub_string':
        return this.#part(text, first, second);
      case 'split':
        if (first === undefined) return text.split(/\s+/).filter(part => part !== '');
        return typeof first === 'string' && first !== '' ? text.split(first) : fail();
      case 'contains':
      case 'starts_with':
      case 'ends_with':
        return typeof first === 'string' ? SEARCHES[name](text, first) : fail();
      default:
        return fail();
    }
  }

  #part(text: string, start: unknown, length: unknown = MOST.text): string {
    if (typeof start !== 'number' || typeof length !== 'number') return fail();
    const characters = this.#characters(text);
    const from = start < 0 ? Math.max(0, characters.length + start) : start;
    return characters.slice(from, from + Math.max(0, length)).join('');
  }

  #length(value: unknown): number {
    if (typeof value === 'string') return this.#characters(value).length;
    if (Array.isArray(value)) return value.length;
    return isRecord(value) ? this.#spend(Object.keys(value).length) : fail();
  }

  #binary({ operator, left: first, right: second }: Extract<Node, { kind: 'binary' }>): unknown {
    const left = this.run(first);
    if (operator === '&&') return isTrue(left) && isTrue(this.run(second));
    if (operator === '||') return isTrue(left) || isTrue(this.run(second));
    if (operator === '??') return left ?? this.run(second);
    return this.#combined(operator, left, this.run(second));
  }

  #unary(operator: string, value: unknown): unknown {
    if (operator === '!') return !isTrue(value);
    if (typeof value !== 'number') return fail();
    return operator === '-' ? -value : value;
  }

  #combined(operator: string, left: unknown, right: unknown): unknown {
    if (operator === '==') return left === right;
    if (operator === '!=') return left !== right;
    const isText = typeof left === 'string' || typeof right === 'string';
    if (operator === '+' && isText) return this.#text(this.#shown(left) + this.#shown(right));
    if (typeof left === 'string' && typeof right === 'string')
      return compared(operator, left, right) ?? fail();
    if (typeof left !== 'number' || typeof right !== 'number') return fail();
    return compared(operator, left, right) ?? calculated(operator, left, right) ?? fail();
  }

  /** As Rhai prints a value; `()` is nothing. */
  #shown(value: unknown): string {
    if (value === null) return '';
    if (typeof value === 'object') return fail();
    return this.#text(String(value));
  }

  #characters(text: string): string[] {
    return Array.from(this.#text(text));
  }

  #text(text: string): string {
    return this.#spend(text.length) > MOST.text ? fail() : text;
  }

  /** Counts the work on something of this size. */
  #spend(size: number): number {
    this.#work += size;
    return this.#work > MOST.work ? fail() : size;
  }
}

function isTrue(value: unknown): boolean {
  return typeof value === 'boolean' ? value : fail();
}
