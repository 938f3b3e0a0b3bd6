import { type Child, childrenOf, type Field } from './field.js';

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
export function stopsOf(root: Field): readonly Row[] {
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
