import type { SchemaFault } from '../../../json-schema/fault.js';
import { jsonPath } from '../../../text/json-path.js';
import { focusOn } from './focus.js';
import type { Form } from './form.js';
import { type Row, rowsOf } from './stops.js';

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
