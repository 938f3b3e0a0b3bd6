import { isJson, type JsonTokenKind, JsonTokens, MAX_DEPTH, parseJson, scanJson } from './json.js';
import { cut } from './text.js';
import { isRecord, valueAt } from './values.js';

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
    if (depth > MAX_DEPTH) return false;
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
  return depth > MAX_DEPTH ? null : out.join('');
}

/** Replaces a string that is a direct member of the JSON object; of repeated keys the last. */
export function withStringMember(text: string, name: string, value: string): string {
  const span = spansOf(text).get(name);
  return span ? text.slice(0, span.from) + JSON.stringify(value) + text.slice(span.to) : text;
}

function spansOf(text: string): Map<string, { readonly from: number; readonly to: number }> {
  const members = new Map<string, { from: number; to: number }>();
  const tokens = new JsonTokens(text.replace(/^\uFEFF/, ' '));
  if (tokens.next() !== 'open') return members;
  const isList = tokens.token === '[';
  for (let kind = tokens.next(); kind && kind !== 'close'; kind = tokens.next()) {
    if (kind === 'comma') continue;
    const key = isList ? String(members.size) : String(JSON.parse(tokens.token));
    if (!isList) tokens.next(); // the colon
    kind = isList ? kind : tokens.next();
    const { from } = tokens;
    for (let depth = depthOf(kind); depth > 0; ) depth += depthOf(tokens.next());
    members.set(key, { from, to: tokens.to });
  }
  return members;
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
      new Map([...spansOf(container)].map(([key, { from, to }]) => [key, container.slice(from, to)]));
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

export function onOneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text.trim();
  const tokens: string[] = [];
  scanJson(text, (_, from, to) => tokens.push(text.slice(from, to)));
  return tokens.join('');
}

/** Maximum length of a text, in characters. */
const MAX_SKETCH_TEXT = 32;

const MAX_ITEMS = 4;

const MAX_MEMBERS = 12;

/** Maximum depth; deeper containers are shown as `{…}`. */
const MAX_SKETCH_DEPTH = 3;

export function jsonSketch(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, MAX_SKETCH_TEXT));
  if (Array.isArray(value)) return listed('[]', value, MAX_ITEMS, depth, jsonSketch);
  if (isRecord(value)) return listed('{}', Object.entries(value), MAX_MEMBERS, depth, member);
  return JSON.stringify(value) ?? 'null';
}

function member([name, value]: readonly [string, unknown], depth: number): string {
  return `${JSON.stringify(cut(name, MAX_SKETCH_TEXT))}:${jsonSketch(value, depth)}`;
}

function listed<Item>(
  [open = '', close = '']: string,
  items: readonly Item[],
  max: number,
  depth: number,
  sketch: (item: Item, depth: number) => string,
): string {
  if (items.length > 0 && depth >= MAX_SKETCH_DEPTH) return `${open}…${close}`;
  const shown = items.slice(0, max).map(item => sketch(item, depth + 1));
  const rest = items.length - shown.length;
  return `${open}${[...shown, ...(rest > 0 ? [`… ${rest} more`] : [])].join(', ')}${close}`;
}

/**
 * Serializes a value in the layout of an earlier JSON text: the same members, order, whitespace and escapes; only changed values are
 * written anew. Compact JSON if the shapes differ or the layout is invalid.
 */
export function inLayout(written: string, value: unknown): string {
  const layout = written.replace(/^\uFEFF/, '');
  if (!parseJson(layout).ok) return JSON.stringify(value);
  const writer = new LayoutWriter(layout);
  return writer.write(value) ? writer.text : JSON.stringify(value);
}

class LayoutWriter {
  readonly #tokens: JsonTokens;
  #text = '';
  #done = 0;

  constructor(private readonly layout: string) {
    this.#tokens = new JsonTokens(layout);
  }

  get text(): string {
    return this.#text + this.layout.slice(this.#done);
  }

  /** Writes the next value; false if the shapes differ. */
  write(value: unknown, kind = this.#tokens.next()): boolean {
    const { token, from, to } = this.#tokens;
    if (kind === 'open') return token === '[' ? this.#writeList(value) : this.#writeObject(value);
    this.#text += this.layout.slice(this.#done, from);
    this.#text += JSON.parse(token) === value ? token : JSON.stringify(value ?? null);
    this.#done = to;
    return true;
  }

  #writeList(value: unknown): boolean {
    if (!Array.isArray(value)) return false;
    const items = value.values();
    for (let kind = this.#tokens.next(); kind !== 'close'; kind = this.#tokens.next())
      if (kind !== 'comma' && !this.write(items.next().value, kind)) return false;
    return true;
  }

  #writeObject(value: unknown): boolean {
    if (!isRecord(value)) return false;
    let name = '';
    for (let kind = this.#tokens.next(); kind !== 'close'; kind = this.#tokens.next()) {
      if (kind === 'string') name = String(JSON.parse(this.#tokens.token));
      else if (kind === 'colon' && !this.write(valueAt(value, name))) return false;
    }
    return true;
  }
}
