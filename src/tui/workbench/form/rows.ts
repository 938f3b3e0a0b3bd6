import type { Key } from 'ink';
import { recordOf, type Schema } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/validate.js';
import { compactJson, cut } from '../../../util/json-diagnosis.js';
import { jsonPath } from '../../../util/redact-json.js';
import { type Child, childrenOf, type Field, rawOf, type Typing } from './field.js';
import { fieldOf, freshSetting, type Setting } from './field-of-schema.js';

/** Arguments as they are being filled in: a value, never changed. */
export interface Form {
  /** The `inputSchema`. */
  readonly schema: Schema;
  readonly mode: 'fields' | 'raw';
  readonly root: Field;
  /** The whole as JSON, while that is written by hand. */
  readonly raw: Typing;
  /** Which stop, from the top; the one after the last is `Run`. */
  readonly focus: number;
  /** Where in the text of the focused field, in UTF-16 units. */
  readonly cursor: number;
  readonly faults: readonly SchemaFault[];
}

/** A key press as Ink tells it. */
export interface Press {
  readonly input: string;
  readonly key: Key;
}

/** A row of the form: a field, or where an item can be added to an array. */
export interface Row {
  readonly kind: 'field' | 'add';
  /** Indexes of children, from the root down. */
  readonly address: readonly number[];
  readonly path: readonly (string | number)[];
  readonly depth: number;
  readonly child: Child;
  /** It can be gone to. */
  readonly isStop: boolean;
}

/** Every row, from top to bottom. */
export function rowsOf(root: Field): readonly Row[] {
  const top: Child = { key: null, isRequired: true, isExtra: false, field: root };
  const whole: Row = { kind: 'field', address: [], path: [], depth: -1, child: top, isStop: false };
  return root.kind === 'object' ? inside(whole) : withInside({ ...whole, depth: 0, isStop: true });
}

/** The rows that can be gone to; the last stop of all, which is no row, is `Run`. */
function stopsOf(root: Field): readonly Row[] {
  return rowsOf(root).filter(({ isStop }) => isStop);
}

function withInside(row: Row): readonly Row[] {
  return [row, ...inside(row)];
}

function inside(row: Row): readonly Row[] {
  const children = childrenOf(row.child.field);
  const rows = children.flatMap((child, index) => under(row, child, index));
  const isAddable = row.child.field.kind === 'array' && children.length > 0;
  return isAddable ? [...rows, { ...row, kind: 'add', depth: row.depth + 1, isStop: true }] : rows;
}

function below(row: Row, child: Child, index: number): Row {
  const path = child.key === null ? row.path : [...row.path, child.key];
  return {
    kind: 'field',
    address: [...row.address, index],
    path,
    depth: row.depth + 1,
    child,
    isStop: isStop(child),
  };
}

/** The value under a variant needs no row of its own where it is the only one, or an object: its members come at once. */
function under(row: Row, child: Child, index: number): readonly Row[] {
  const { key, field } = child;
  const own = below(row, child, index);
  if (key !== null) return withInside(own);
  if (field.kind === 'object') return inside({ ...own, depth: row.depth });
  return field.kind === 'choice' && field.values.length === 1 ? [] : withInside(own);
}

/** A heading is gone to only where something can be done with it. */
function isStop({ field, isRequired, isExtra }: Child): boolean {
  if (field.kind === 'object') return !isRequired || isExtra;
  return field.kind !== 'array' || field.children.length === 0;
}

/** None while JSON is written by hand, and on `Run`. */
export function focusedRow({ mode, root, focus }: Form): Row | undefined {
  return mode === 'fields' ? stopsOf(root)[focus] : undefined;
}

/** The form with another stop in focus, the cursor behind its text. */
export function focusOn(form: Form, stop: number): Form {
  if (form.mode === 'raw') return { ...form, focus: Math.max(0, Math.min(1, stop)) };
  const stops = stopsOf(form.root);
  const focus = Math.max(0, Math.min(stops.length, stop));
  const field = stops[focus]?.child.field;
  return { ...form, focus, cursor: field && 'text' in field ? field.text.length : 0 };
}

export function isOnRun(form: Form): boolean {
  return form.focus === (form.mode === 'raw' ? 1 : stopsOf(form.root).length);
}

/** The form with what is wrong about it: each at its field, what is of no field at the top; the first one's field is in focus. */
export function withFaults(form: Form, faults: readonly SchemaFault[]): Form {
  const told: Form = { ...form, faults };
  if (form.mode === 'raw' || faults.length === 0) return form.mode === 'raw' ? focusOn(told, 0) : told;
  const rows = rowsOf(form.root);
  const placed = placedFaults(rows, faults);
  const first = rows.findIndex(row => placed.has(row));
  if (first < 0) return told;
  const stop = rows.slice(0, first).filter(({ isStop }) => isStop).length;
  return focusOn(told, stop);
}

/** The form with what else is wrong about it, but for what may only come of its faults: an example stood in for what has them. */
export function withOtherFaults(form: Form, others: readonly SchemaFault[]): Form {
  const holes = form.faults.map(({ path }) => plain(path));
  const own = others.filter(({ path }) => !holes.some(hole => comesOf(hole, plain(path))));
  return own.length === 0 ? form : withFaults(form, [...form.faults, ...own]);
}

/** There, in it, or at the list that it is an item of. */
function comesOf(hole: string, path: string): boolean {
  const isThere = path.startsWith(hole) && /^(?:$|[.[])/.test(path.slice(hole.length));
  return isThere || path === hole.replace(/\[\d+\]$/, '');
}

/** By row; what is of none has none. */
export function placedFaults(
  rows: readonly Row[],
  faults: readonly SchemaFault[],
): ReadonlyMap<Row | undefined, readonly SchemaFault[]> {
  const byPath = new Map(rows.filter(({ kind }) => kind === 'field').map(row => [pathOf(row), row]));
  const placed = new Map<Row | undefined, SchemaFault[]>();
  for (const fault of faults) {
    const row = nearest(byPath, plain(fault.path));
    placed.set(row, [...(placed.get(row) ?? []), fault]);
  }
  return placed;
}

/** Without those of this row: what was wrong with it is being mended. */
export function withoutFaultsAt(form: Form, row: Row | undefined): readonly SchemaFault[] {
  if (form.faults.length === 0 || !row) return form.faults;
  const placed = placedFaults(rowsOf(form.root), form.faults);
  const own = pathOf(row);
  return [...placed].flatMap(([at, faults]) => (at && pathOf(at) === own ? [] : faults));
}

/** What a fault says at its row, which may be above the place that is meant. */
export function faultText(row: Row | undefined, { path, message }: SchemaFault): string {
  const rest = row ? plain(path).slice(pathOf(row).length) : plain(path);
  return rest === '' || rest === '$' ? message : `${rest} ${message}`;
}

function nearest(byPath: ReadonlyMap<string, Row>, path: string): Row | undefined {
  for (
    let end = path.length;
    end > 0;
    end = Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1))
  ) {
    const row = byPath.get(path.slice(0, end));
    if (row) return row;
  }
  return undefined;
}

function pathOf({ path }: Row): string {
  return plain(jsonPath(path));
}

/** A key of digits is written in two ways. */
function plain(path: string): string {
  return path.replaceAll(/\["(\d+)"\]/g, '[$1]');
}

/**
 * A form for an `inputSchema`, which may be anything. Without `initial` every default is filled in; with it only what is required
 * and missing is, so that what a call had comes out the same. What no field can hold opens as JSON.
 */
export function formOf(schema: Schema, initial?: Readonly<Record<string, unknown>>): Form {
  const setting: Setting = {
    ...freshSetting(schema, 0),
    defaults: initial === undefined ? 'all' : 'required',
  };
  const root = fieldOf({ type: 'object', ...schema }, initial, setting);
  const form: Form = {
    schema,
    mode: 'fields',
    root,
    raw: { text: '', cursor: 0 },
    focus: 0,
    cursor: 0,
    faults: [],
  };
  return isFillable(root) ? focusOn(form, 0) : { ...form, mode: 'raw', raw: rawOf(root) };
}

/** What has fields; all else is written as JSON. */
export function isFillable({ kind }: Field): boolean {
  return kind === 'object' || kind === 'variants';
}

const LONGEST = 200;

/** A value that can be chosen, as a person reads it: a string without its quotes. Foreign. */
export function choiceWord(value: unknown): string {
  return cut(typeof value === 'string' ? value : (compactJson(value) ?? ''), LONGEST);
}

/** What a schema takes, in a word or two. Foreign where a format or a title is named. */
export function typeWord({ kind, schema }: Field): string {
  const format = typeof schema['format'] === 'string' ? ` ${schema['format']}` : '';
  return cut(`${WORDS[kind](schema)}${kind === 'text' ? format : ''}`, LONGEST);
}

const WORDS: Readonly<Record<Field['kind'], (schema: Schema) => string>> = {
  text: () => 'string',
  number: ({ type }) => (type === 'integer' ? 'integer' : 'number'),
  json: ({ type }) => (typeof type === 'string' ? `${type} as JSON` : 'JSON'),
  choice: schema => ('const' in schema ? 'const' : 'enum' in schema ? 'enum' : String(schema['type'])),
  object: () => 'object',
  array: ({ items }) => arrayWord(recordOf(items)['type']),
  variants: () => 'one of',
};

function arrayWord(type: unknown): string {
  return typeof type === 'string' ? `array of ${type}` : 'array';
}

/** What a variant is called: by its title, else by its type or what it refers to. Foreign. */
export function variantWord(variant: Schema): string {
  const named = [variant['title'], variant['const'], variant['type']].find(name => typeof name === 'string');
  return cut(String(named ?? 'JSON'), LONGEST);
}
