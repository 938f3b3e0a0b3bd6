/** Tokens of a JSON text, even if `JSON.parse` would change or reject it. */
export type JsonTokenKind = 'open' | 'close' | 'string' | 'scalar' | 'comma' | 'colon';

const KINDS: Readonly<Record<string, JsonTokenKind | 'blank'>> = {
  '{': 'open',
  '[': 'open',
  '}': 'close',
  ']': 'close',
  ',': 'comma',
  ':': 'colon',
  '"': 'string',
  ' ': 'blank',
  '\n': 'blank',
  '\r': 'blank',
  '\t': 'blank',
};

/** Token kinds by character code, ten times faster than by string; other characters belong to scalars. */
const BY_CODE = Array.from({ length: 128 }, (_, code) => KINDS[String.fromCharCode(code)]);

/** Steps through the tokens in linear time and constant space, without checking validity. */
export class JsonTokens {
  /** The half-open range of the current token. */
  from = 0;
  to = 0;

  constructor(private readonly text: string) {}

  get token(): string {
    return this.text.slice(this.from, this.to);
  }

  next(): JsonTokenKind | null {
    const { text } = this;
    let at = this.to;
    while (BY_CODE[text.charCodeAt(at)] === 'blank') at++;
    if (at >= text.length) return null;
    const kind = BY_CODE[text.charCodeAt(at)] ?? 'scalar';
    this.from = at;
    this.to = kind === 'string' ? stringEnd(text, at) : kind === 'scalar' ? scalarEnd(text, at) : at + 1;
    return kind === 'blank' ? null : kind;
  }
}

/** @param visit gets each token's half-open range; returns `false` to stop. */
export function scanJson(
  text: string,
  visit: (kind: JsonTokenKind, from: number, to: number) => unknown,
): void {
  const tokens = new JsonTokens(text);
  for (let kind = tokens.next(); kind; kind = tokens.next())
    if (visit(kind, tokens.from, tokens.to) === false) return;
}

/** Where the string ends that begins at a position. */
export function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function scalarEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && !endsScalar(text.charCodeAt(at))) at++;
  return at;
}

function endsScalar(code: number): boolean {
  const kind = BY_CODE[code];
  return kind !== undefined && kind !== 'string';
}
