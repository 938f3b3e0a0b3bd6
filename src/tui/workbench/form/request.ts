import { jsonLine, type Line, quote, say, textLines } from '../../../render/line.js';
import { cutLine, widthOf } from '../../../render/terminal/fit.js';
import { halfWidths } from '../../../render/terminal/wrap.js';
import { memoizeByObject } from '../../../util/collections.js';
import { prettyJson } from '../../../util/json-text.js';
import { truncate } from '../../../util/text.js';
import { compactJson } from '../../../util/values.js';
import type { Size } from '../../tty.js';
import { type Field, KINDS, readFields } from './fields.js';
import { type FormState, focusedRow, formMessages } from './form.js';

/** Where the arguments are sent. */
export interface RequestTarget {
  readonly method: string;
  readonly url: string;
}

/** Minimum width of a form that shows its request. */
const MIN_COLUMNS = 120;

/** The space between the fields and the request, in cells. */
export const REQUEST_GAP = 3;

/** Maximum number of lines of a value, and of characters of a name. */
const MAX = { lines: 100, name: 200 };

/** Stands for a value that is required. */
const MISSING: Line = [say('…', 'dim')];

/** The widths of the fields and of the request beside them; zero: without the request. A text that is JSON already has none. */
export function formWidths({ mode }: FormState, columns: number): readonly [fields: number, request: number] {
  return mode === 'raw' || columns < MIN_COLUMNS ? [columns, 0] : halfWidths(columns, REQUEST_GAP);
}

/** The arguments as they would be sent now, around the focused field. Invalid and missing values are marked. */
export function requestLines(
  form: FormState,
  { columns, rows }: Size,
  target?: RequestTarget,
): readonly Line[] {
  const heading = [
    say('REQUEST', 'title'),
    ...(target ? [say(`  ${target.method} `, 'dim'), ...quote(target.url, 'dim')] : []),
  ];
  const messages = new Map(
    [...formMessages(form)].flatMap(([row, [first = '']]) => (row ? [[row.field, first] as const] : [])),
  );
  const all = [...entriesOf(form.root, { depth: 0, name: [], comma: '' })];
  const height = Math.max(0, rows - 1);
  const focused = focusedRow(form)?.field;
  const at = all.findIndex(({ field }) => field === focused);
  const from = Math.max(0, Math.min(at - Math.floor(height / 2), all.length - height));
  const seen = all.slice(from, from + height).map(entry => entryLine(entry, messages, columns));
  return [cutLine(heading, columns), ...seen].slice(0, rows);
}

/** A line of the request. */
interface Entry {
  /** The field whose value starts here. */
  readonly field: Field | null;
  readonly depth: number;
  readonly line: Line;
}

/** The place of a value: `"name": value,` */
interface Place {
  readonly depth: number;
  readonly name: Line;
  readonly comma: string;
}

function* entriesOf(field: Field, place: Place): Generator<Entry> {
  const { kind, isPresent, children } = field;
  const [variant] = children;
  if (kind === 'variants' && variant) yield* entriesOf(variant, place);
  else if (isPresent && kind === 'object') yield* groupEntries(field, place, '{}');
  else if (isPresent && kind === 'array') yield* groupEntries(field, place, '[]');
  else yield* valueEntries(field, place);
}

function* groupEntries(field: Field, { depth, name, comma }: Place, brackets: string): Generator<Entry> {
  const shown = field.children.filter(child => child.isRequired || hasValue(child));
  const [open = '', close = ''] = shown.length > 0 ? brackets : [brackets];
  yield { field, depth, line: [...name, say(close === '' ? `${open}${comma}` : open)] };
  const last = shown.findLast(hasValue);
  for (const child of shown)
    yield* entriesOf(child, {
      depth: depth + 1,
      name: field.kind === 'object' ? nameLine(String(child.key)) : [],
      comma: child === last ? '' : ',',
    });
  if (close !== '') yield { field: null, depth, line: [say(`${close}${comma}`)] };
}

function* valueEntries(field: Field, { depth, name, comma }: Place): Generator<Entry> {
  const isMissing = !hasValue(field);
  const lines = isMissing ? [MISSING] : valueLines(field);
  const [first = [], ...rest] = lines.map((each, index) =>
    index === lines.length - 1 && !isMissing ? [...each, say(comma)] : each,
  );
  yield { field, depth, line: [...name, ...first] };
  for (const line of rest) yield { field: null, depth, line };
}

function nameLine(key: string): Line {
  return quote(`${JSON.stringify(truncate(key, MAX.name))}: `);
}

/** What a field without children holds. Cached: a long JSON text is read once. */
const readingOf = memoizeByObject((field: Field) => {
  const { value, faults } = readFields(field);
  return { value, fault: faults[0]?.message };
});

const valueLines = memoizeByObject((field: Field): readonly Line[] => {
  const text = compactJson(readingOf(field).value) ?? '';
  const { lines, total } = textLines(prettyJson(text) ?? text, MAX.lines);
  return total > lines.length ? [...lines, [say('…', 'dim')]] : lines;
});

/** Whether a field is a part of the arguments. */
function hasValue(field: Field): boolean {
  const { kind, isPresent, children } = field;
  if (KINDS[kind].input === 'group') return isPresent;
  if (kind === 'variants') return children.some(hasValue);
  return readingOf(field).value !== undefined;
}

function entryLine(
  { field, depth, line }: Entry,
  messages: ReadonlyMap<Field, string>,
  columns: number,
): Line {
  const isMissing = field !== null && !hasValue(field);
  const own = isMissing ? 'is required' : field?.children.length === 0 ? readingOf(field).fault : undefined;
  const message = (field && messages.get(field)) ?? own;
  const tone = isMissing ? 'warn' : 'bad';
  const indented = [say(' '.repeat(2 * depth)), ...jsonLine(line)];
  if (message === undefined) return cutLine([say('  '), ...indented], columns);
  const remark = cutLine([say('  '), ...quote(truncate(message, MAX.name), tone)], Math.floor(columns / 2));
  const marked = cutLine([say(isMissing ? '! ' : '✗ ', tone), ...indented], columns - widthOf(remark));
  return [...marked, ...remark];
}
