import { parseJson } from './json.js';
import { type JsonTokenKind, MAX_DEPTH, scanJson } from './json-scan.js';
import { cut } from './text.js';
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The members of a JSON object or array as written; of repeated keys the last. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const written = ([key, { from, to }]: [string, Span]) => [key, text.slice(from, to)] as const;
  return new Map([...spansOf(text)].map(written));
}

/** The same JSON text with another string as a direct member of its object. */
export function withStringMember(text: string, name: string, value: string): string {
  const span = spansOf(text).get(name);
  return span ? text.slice(0, span.from) + JSON.stringify(value) + text.slice(span.to) : text;
}

/** A half-open range. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf(text: string): Map<string, Span> {
  const members = new Map<string, Span>();
  let depth = 0;
  let isList = false;
  let key = '';
  let from = -1;
  let to = -1;
  const finish = () => {
    if (from >= 0) members.set(isList ? String(members.size) : key, { from, to });
    from = -1;
  };
  const goOn = (start: number, end: number) => {
    if (from < 0) from = start;
    to = end;
  };
  const name = () => {
    key = String(JSON.parse(text.slice(from, to)));
    from = -1;
  };
  const outside = (kind: JsonTokenKind, start: number) => {
    if (kind === 'open') isList = text.charAt(start) === '[';
    else finish();
  };
  scanJson(text, (kind, start, end) => {
    if (kind === 'close') depth--;
    if (depth === 0) outside(kind, start);
    else if (depth === 1 && kind === 'comma') finish();
    else if (depth === 1 && kind === 'colon') name();
    else goOn(start, end);
    if (kind === 'open') depth++;
  });
  return members;
}

/** Looks up parts of a JSON text by path, in their original spelling; null if absent. Each container is scanned once. */
export function jsonParts(text: string): (path: readonly PropertyKey[]) => string | null {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const partsOf = (container: string, place: string) => {
    const parts = known.get(place) ?? membersOf(container);
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

/** A JSON text on one line, tokens as written. */
export function onOneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text.trim();
  const tokens: string[] = [];
  scanJson(text, (_, from, to) => tokens.push(text.slice(from, to)));
  return tokens.join('');
}

/** Characters of a text. */
const LONGEST = 32;

const MOST_ITEMS = 4;

const MOST_MEMBERS = 12;

/** Deeper containers are shown as `{…}`. */
const DEEPEST = 3;

/** JSON with long texts and lists cut. */
export function jsonSketch(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, LONGEST));
  if (Array.isArray(value)) return listed('[]', value, MOST_ITEMS, depth, jsonSketch);
  if (isRecord(value)) return listed('{}', Object.entries(value), MOST_MEMBERS, depth, member);
  return JSON.stringify(value) ?? 'null';
}

function member([name, value]: readonly [string, unknown], depth: number): string {
  return `${JSON.stringify(cut(name, LONGEST))}:${jsonSketch(value, depth)}`;
}

function listed<Item>(
  [open = '', close = '']: string,
  items: readonly Item[],
  most: number,
  depth: number,
  sketch: (item: Item, depth: number) => string,
): string {
  if (items.length > 0 && depth >= DEEPEST) return `${open}…${close}`;
  const shown = items.slice(0, most).map(item => sketch(item, depth + 1));
  const rest = items.length - shown.length;
  return `${open}${[...shown, ...(rest > 0 ? [`… ${rest} more`] : [])].join(', ')}${close}`;
}

/**
 * Serializes a value in the layout of an earlier JSON text: the same members, order, white space and escapes; only changed values are
 * written anew. Compact JSON if the shapes differ or the layout is invalid.
 */
export function inLayout(written: string, value: unknown): string {
  const layout = written.replace(/^\uFEFF/, '');
  if (!parseJson(layout).ok) return JSON.stringify(value);
  const pieces: string[] = [];
  const open: Place[] = [];
  let done = 0;
  let isSame = true;
  scanJson(layout, (kind, from, to) => {
    const place = open.at(-1);
    if (kind === 'close') return open.pop();
    if (kind === 'comma' || kind === 'colon') return place && separate(place, kind);
    const token = layout.slice(from, to);
    if (kind === 'string' && place?.isKey) return nameNext(place, token);
    const current = place ? valueIn(place) : value;
    if (kind === 'open') {
      isSame = begin(token, current, open);
      return isSame;
    }
    pieces.push(layout.slice(done, from), valueText(token, current));
    done = to;
    return true;
  });
  return isSame ? pieces.join('') + layout.slice(done) : JSON.stringify(value);
}

interface Place {
  readonly value: unknown;
  index: number;
  key: string;
  /** Whether a member's name comes next. */
  isKey: boolean;
}

function begin(token: string, value: unknown, open: Place[]): boolean {
  const isObject = token === '{';
  open.push({ value, index: 0, key: '', isKey: isObject });
  return isObject ? isRecord(value) : Array.isArray(value);
}

function separate(place: Place, kind: 'comma' | 'colon'): void {
  if (kind === 'comma') place.index++;
  place.isKey = kind === 'comma' && !Array.isArray(place.value);
}

function nameNext(place: Place, token: string): void {
  place.key = String(JSON.parse(token));
}

function valueIn({ value, index, key }: Place): unknown {
  if (Array.isArray(value)) return value[index];
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function valueText(token: string, value: unknown): string {
  const isMissing = value === undefined;
  return JSON.parse(token) === value ? token : JSON.stringify(isMissing ? null : value);
}
