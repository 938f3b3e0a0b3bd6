import type { SchemaFault } from '../../../json-schema/schema-faults.js';
import { memoizeByObject } from '../../../util/collections.js';
import { jsonPath } from '../../../util/values.js';
import type { Field } from './fields.js';

/** A row of the form: a field, or the row that adds an item to an array. */
export interface Row {
  readonly kind: 'field' | 'add';
  /** Indexes of children, from the root down. */
  readonly address: readonly number[];
  readonly path: string;
  readonly depth: number;
  readonly field: Field;
  readonly isFocusable: boolean;
}

/** The rows of all fields. Cached: a key press reads them several times. */
export const rowsOf = memoizeByObject((field: Field): readonly Row[] => {
  const row: Row = { kind: 'field', address: [], path: '$', depth: 0, field, isFocusable: true };
  return field.kind === 'object' ? [...rowsIn({ ...row, depth: -1 })] : [row, ...rowsIn(row)];
});

function* rowsIn(row: Row): Generator<Row> {
  const { kind, children } = row.field;
  for (const [index, field] of children.entries()) {
    const { key } = field;
    const inner: Row = {
      kind: 'field',
      address: [...row.address, index],
      path: key === null ? row.path : plainPath(row.path + jsonPath([key]).slice(1)),
      depth: row.depth + 1,
      field,
      isFocusable: isFocusable(field),
    };
    // A variant's object shows only its members, and a constant nothing.
    if (key === null && field.kind === 'object') yield* rowsIn({ ...inner, depth: row.depth });
    else if (key !== null || field.options.length !== 1) yield* [inner, ...rowsIn(inner)];
  }
  if (kind === 'array' && children.length > 0)
    yield { ...row, kind: 'add', depth: row.depth + 1, isFocusable: true };
}

/** A heading can have the focus only if a key applies to it. */
function isFocusable({ kind, isRequired, isExtra, children }: Field): boolean {
  if (kind === 'object') return !isRequired || isExtra;
  return kind !== 'array' || children.length === 0;
}

/** Normalizes numeric keys, which can be written in two ways. */
export function plainPath(path: string): string {
  return path.replaceAll(/\["(\d+)"\]/g, '[$1]');
}

/** Finds the row of a fault: the field at its path, or the nearest one above it. */
export function rowFinder(rows: readonly Row[]): (fault: SchemaFault) => Row | undefined {
  const byPath = new Map(rows.filter(({ kind }) => kind === 'field').map(row => [row.path, row]));
  return fault => {
    for (let path = plainPath(fault.path); path !== ''; path = parentOf(path)) {
      const row = byPath.get(path);
      if (row) return row;
    }
    return undefined;
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));
}
