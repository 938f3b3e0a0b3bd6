/** A block of rows that wants to be on the screen. */
export interface Want {
  /** All that it has. */
  readonly rows: number;
  /** With fewer it says nothing. */
  readonly least: number;
  /** Where not even the least of all fits, the highest rank goes first. */
  readonly rank: number;
}

/** Rows between two blocks. */
const BLANK = 1;

/**
 * How many rows each block gets of `height`, the blank rows between them taken off. Small blocks get all they want; what is left
 * the others share alike.
 */
export function allot(height: number, wants: readonly Want[]): number[] {
  const granted = leastOf(height, wants);
  let left = height - needed(granted);
  while (left > 0) {
    const index = poorest(granted, wants);
    if (index === undefined) break;
    granted[index] = (granted[index] ?? 0) + 1;
    left--;
  }
  return granted;
}

function leastOf(height: number, wants: readonly Want[]): number[] {
  const granted = wants.map(({ rows, least }) => Math.min(rows, least));
  const dispensable = [...wants.entries()].sort(([, a], [, b]) => b.rank - a.rank);
  for (const [index] of dispensable) {
    if (needed(granted) <= height) break;
    granted[index] = 0;
  }
  return granted;
}

function needed(granted: readonly number[]): number {
  const shown = granted.filter(rows => rows > 0);
  return shown.reduce((sum, rows) => sum + rows, Math.max(0, shown.length - 1) * BLANK);
}

/** The one that has the fewest rows of those that want more; one that has none stays away. */
function poorest(granted: readonly number[], wants: readonly Want[]): number | undefined {
  return [...granted.keys()]
    .filter(index => (granted[index] ?? 0) > 0 && (granted[index] ?? 0) < (wants[index]?.rows ?? 0))
    .sort((a, b) => (granted[a] ?? 0) - (granted[b] ?? 0))[0];
}
