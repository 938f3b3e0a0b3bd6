import type { Row } from './model.js';

/**
 * For each row of the window that has one, the index of the row it stands for:
 * the i-th removed of a run and the i-th added of the run right after it.
 */
export function pairsWithin(rows: readonly Row[], from: number, to: number): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  for (let at = blockStart(rows, from); at < to; ) {
    const added = runEnd(rows, at, 'removed');
    const end = runEnd(rows, added, 'added');
    const shift = added - at;
    for (let row = Math.max(at, from); row < Math.min(end, to); row++) {
      const partner = row < added ? row + shift : row - shift;
      if (row < added ? partner < end : partner < added) pairs.set(row, partner);
    }
    at = Math.max(end, at + 1);
  }
  return pairs;
}

function blockStart(rows: readonly Row[], from: number): number {
  let at = from;
  while (rows[at - 1]?.kind === 'added') at--;
  while (rows[at - 1]?.kind === 'removed') at--;
  return at;
}

function runEnd(rows: readonly Row[], from: number, kind: Row['kind']): number {
  let at = from;
  while (rows[at]?.kind === kind) at++;
  return at;
}
