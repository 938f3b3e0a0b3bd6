/** A terminal's size in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns, rows };
}

/** Ink clears the scrollback (CSI 3J) where it believes a frame to be higher than the terminal; frames are cut to it here. */
export function unbounded(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  return Object.create(stdout, { rows: { value: Number.MAX_SAFE_INTEGER } });
}
