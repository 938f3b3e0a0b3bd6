import { parseJson } from './json.js';
import { isJson } from './json-fault.js';
import { type JsonTokenKind, JsonTokens, scanJson } from './json-tokens.js';
import { LIMITS } from './limits.js';
import { isRecord } from './values.js';

const MAX_LENGTH = 1_000_000;

/**
 * Indents JSON token by token; numbers, escapes and repeated keys stay as written. Null if the text is not a JSON object or array, longer
 * than a million characters, or nested too deep.
 */
export function prettyJson(text: string): string | null {
  if (text.length > MAX_LENGTH || !/^\s*[{[]/.test(text) || !isJson(text)) return null;
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  const newline = () => out.push(`\n${'  '.repeat(depth)}`);
  scanJson(text, (kind, from, to) => {
    const token = text.slice(from, to);
    if (depth > LIMITS.jsonDepth.value) return false;
    if (kind === 'close') {
      depth--;
      if (!opened) newline();
    } else if (opened) newline();
    opened = kind === 'open';
    if (opened) depth++;
    out.push(kind === 'colon' ? ': ' : token);
    if (kind === 'comma') newline();
    return true;
  });
  return depth > LIMITS.jsonDepth.value ? null : out.join('');
}

/** Replaces a string that is a direct member of the JSON object, also where its key is repeated. */
export function withStringMember(text: string, name: string, value: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { key, from, to } of membersOf(text)) {
    if (key !== name) continue;
    pieces.push(text.slice(done, from), JSON.stringify(value));
    done = to;
  }
  return pieces.join('') + text.slice(done);
}

interface MemberSpan {
  /** For an item of a list, its index. */
  readonly key: string;
  /** The half-open range of the value. */
  readonly from: number;
  readonly to: number;
}

/** The direct members of a JSON object or list, in order; a repeated key several times. What is deeper is skipped, at no cost of memory. */
function* membersOf(text: string): Generator<MemberSpan> {
  const tokens = new JsonTokens(text.replace(/^\uFEFF/, ' '));
  if (tokens.next() !== 'open') return;
  for (const { key, kind } of valuesIn(tokens)) {
    const { from } = tokens;
    for (let depth = depthOf(kind); depth > 0; ) depth += depthOf(tokens.next());
    yield { key, from, to: tokens.to };
  }
}

/** Steps to each value in the container that the current token opens. The caller steps on to the last token of the value. */
function* valuesIn(
  tokens: JsonTokens,
): Generator<{ readonly key: string; readonly kind: JsonTokenKind | null }> {
  const isList = tokens.token === '[';
  let index = 0;
  for (let kind = tokens.next(); kind && kind !== 'close'; kind = tokens.next()) {
    if (kind === 'comma') continue;
    if (isList) {
      yield { key: String(index++), kind };
      continue;
    }
    const key = String(JSON.parse(tokens.token));
    tokens.next(); // the colon
    yield { key, kind: tokens.next() };
  }
}

/** How a token changes the depth; the end of an incomplete text closes everything. */
function depthOf(kind: JsonTokenKind | null): number {
  if (kind === 'open') return 1;
  if (kind === 'close') return -1;
  return kind === null ? Number.NEGATIVE_INFINITY : 0;
}

/** Looks up parts of a JSON text by path, in their original spelling; null if absent. Each container is scanned once. */
export function jsonParts(text: string): (path: readonly PropertyKey[]) => string | null {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const partsOf = (container: string, place: string) => {
    const written = () =>
      new Map([...membersOf(container)].map(({ key, from, to }) => [key, container.slice(from, to)]));
    const parts = known.get(place) ?? written();
    known.set(place, parts);
    return parts;
  };
  return path => {
    let part: string | undefined = text;
    for (const [depth, key] of path.entries()) {
      if (part === undefined) return null;
      part = partsOf(part, JSON.stringify(path.slice(0, depth).map(String))).get(String(key));
    }
    return part ?? null;
  };
}

/**
 * Serializes a value as an earlier JSON text has it: its members in its order, long numbers, repeated keys and escapes. Only values that
 * differ are written anew; members that the text does not have are left out.
 */
export function formatLike(earlier: string, value: unknown): string {
  const text = earlier.replace(/^\uFEFF/, '');
  if (!parseJson(text).ok) return JSON.stringify(value);
  const tokens = new JsonTokens(text);
  return valueLike(text, writtenValue(tokens, tokens.next()), value);
}

/** A value in a JSON text: its half-open range, and the members or items in it. */
interface WrittenValue {
  readonly from: number;
  readonly to: number;
  /** The key of an item is its index; a repeated key stands several times. */
  readonly parts: readonly { readonly key: string; readonly part: WrittenValue }[];
}

/** Reads the value that begins with the current token. The text is valid, and read once, however deep it is. */
function writtenValue(tokens: JsonTokens, kind: JsonTokenKind | null): WrittenValue {
  const { from } = tokens;
  const parts: { key: string; part: WrittenValue }[] = [];
  if (kind === 'open')
    for (const each of valuesIn(tokens)) parts.push({ key: each.key, part: writtenValue(tokens, each.kind) });
  return { from, to: tokens.to, parts };
}

function valueLike(text: string, written: WrittenValue, value: unknown): string {
  const first = text[written.from];
  if (Array.isArray(value) && first === '[') return listLike(text, written, value);
  if (isRecord(value) && first === '{') return objectLike(text, written, value);
  const isScalar = first !== '[' && first !== '{';
  const source = isScalar ? text.slice(written.from, written.to) : '';
  return isScalar && JSON.parse(source) === value ? source : JSON.stringify(value);
}

function listLike(text: string, { parts }: WrittenValue, items: readonly unknown[]): string {
  const texts = items.map((item, index) => {
    const written = parts[index];
    return written ? valueLike(text, written.part, item) : JSON.stringify(item);
  });
  return `[${texts.join()}]`;
}

/** The value of a repeated key is the last one; the others stay as they are. */
function objectLike(
  text: string,
  { parts }: WrittenValue,
  members: Readonly<Record<string, unknown>>,
): string {
  const last = new Map(parts.map(({ key, part }) => [key, part]));
  const source = ({ from, to }: WrittenValue) => text.slice(from, to);
  const texts = parts
    .filter(({ key }) => members[key] !== undefined)
    .map(({ key, part }) => {
      const effective = last.get(key) ?? part;
      const isEffective = part === effective || source(part) === source(effective);
      return `${JSON.stringify(key)}:${isEffective ? valueLike(text, part, members[key]) : source(part)}`;
    });
  return `{${texts.join()}}`;
}
