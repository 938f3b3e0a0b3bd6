/** A parsed unified diff: what it says about each file, free of how any tool spelled it. */
export interface Diff {
  readonly files: readonly DiffFile[];
  readonly added: number;
  readonly removed: number;
}

export type FileKind = 'changed' | 'created' | 'deleted' | 'renamed' | 'copied' | 'mode' | 'binary';

export interface DiffFile {
  /** Without git's `a/` and `b/`; for a created or a deleted file both paths are the one it has. */
  readonly oldPath: string;
  readonly newPath: string;
  readonly kind: FileKind;
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  readonly hidden: Hidden;
}

/** Characters that nobody would see, or that would act on a terminal. */
export interface Hidden {
  readonly count: number;
  /** What they are shown as, each once; only the first few. */
  readonly pictures: readonly string[];
}

/** Starts are as written in the header; counts are what the hunk really has. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** What stands behind the second `@@`: usually the function that encloses the hunk. */
  readonly section: string;
  readonly rows: Rows;
}

export type RowKind = 'context' | 'added' | 'removed';

/** The rows of a hunk, each looked up only when it is asked for: a patch may have half a million. */
export interface Rows {
  readonly length: number;
  /** Undefined where there is no such row. */
  kindAt(index: number): RowKind | undefined;
  /** Without its sign; a `\r` before the line feed is kept. */
  textAt(index: number): string;
  /** The file ends with this row, without a line feed. */
  endsWithoutNewline(index: number): boolean;
}
