/** What a JSON text is made of, without building values: works on texts that `JSON.parse` would alter or choke on. */
export type JsonTokenKind = 'open' | 'close' | 'string' | 'scalar' | 'comma' | 'colon';

/** Called with the token's half-open range; return `false` to stop the scan. */
export type JsonVisitor = (kind: JsonTokenKind, from: number, to: number) => unknown;

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

/** By character code, since a look-up by a one-letter string costs ten times as much; what is not here belongs to a scalar. */
const BY_CODE = Array.from({ length: 128 }, (_, code) => KINDS[String.fromCharCode(code)]);

/** Walks the tokens in linear time and constant space. Says nothing about validity: that stays with `JSON.parse`. */
export function scanJson(text: string, visit: JsonVisitor): void {
  for (let at = 0; at < text.length; ) {
    const kind = BY_CODE[text.charCodeAt(at)] ?? 'scalar';
    const to = kind === 'string' ? stringEnd(text, at) : kind === 'scalar' ? scalarEnd(text, at) : at + 1;
    if (kind !== 'blank' && visit(kind, at, to) === false) return;
    at = to;
  }
}

function stringEnd(text: string, from: number): number {
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
