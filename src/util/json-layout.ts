import { parseJson } from './json.js';
import { isRecord, scanJson } from './json-diagnosis.js';

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

/** `a, b, c and 4 more`. */
export function firstFew(names: readonly string[], most: number): string {
  return [names.slice(0, most).join(', '), ...restOf(names, most)].join(' ');
}

/** The first of many, then `and 4 more`. */
export function firstOf(all: readonly string[], most: number): readonly string[] {
  return [...all.slice(0, most), ...restOf(all, most)];
}

function restOf({ length }: readonly string[], most: number): readonly string[] {
  return length > most ? [`and ${length - most} more`] : [];
}
