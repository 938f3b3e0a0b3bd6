import { cut } from './cut.js';
import { isRecord } from './is-record.js';

/** Characters of a text. */
const LONGEST = 32;
const MOST_ITEMS = 4;
const MOST_MEMBERS = 12;
/** Below it, what holds something is a sign that it does. */
const DEEPEST = 3;

/** JSON as a person looks it over: every member of a message is there, and long texts and lists are cut. */
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
