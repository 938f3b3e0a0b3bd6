/** A terminal's size in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** With fewer cells there is no room for anything. */
const LEAST: Size = { columns: 40, rows: 8 };

export function isLargeEnough({ columns, rows }: Size): boolean {
  return columns >= LEAST.columns && rows >= LEAST.rows;
}

/** In the place of everything else, as far as it fits. */
export function tooSmallWords({ columns, rows }: Size): string {
  return `${LEAST.columns}×${LEAST.rows} is needed, this is ${columns}×${rows}`.slice(
    0,
    Math.max(0, columns),
  );
}

export function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns, rows };
}

/** Ink clears the scrollback (CSI 3J) where it believes a frame to be higher than the terminal; frames are cut to it here. */
export function unbounded(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  return Object.create(stdout, { rows: { value: Number.MAX_SAFE_INTEGER } });
}
