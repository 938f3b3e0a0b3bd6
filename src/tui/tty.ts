/** The streams of the terminal that a screen is drawn on. */
export interface TtyStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The minimum size of the terminal. */
const MIN_SIZE: Size = { columns: 40, rows: 8 };

/** A message that fits into a terminal that is too small, cut if necessary; null for a larger one. */
export function tooSmallMessage({ columns, rows }: Size): string | null {
  if (columns >= MIN_SIZE.columns && rows >= MIN_SIZE.rows) return null;
  const text = `${MIN_SIZE.columns}×${MIN_SIZE.rows} is needed, this is ${columns}×${rows}`;
  return text.slice(0, Math.max(0, columns));
}

export function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns, rows };
}
