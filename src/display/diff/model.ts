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
}

/** Starts are as written in the header; counts are what the hunk really has. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** What stands behind the second `@@`: usually the function that encloses the hunk. */
  readonly section: string;
  readonly rows: readonly Row[];
}

export type RowKind = 'context' | 'added' | 'removed';

export interface Row {
  readonly kind: RowKind;
  /** 1-based line in the old file; absent for an added row. */
  readonly oldNo?: number;
  /** 1-based line in the new file; absent for a removed row. */
  readonly newNo?: number;
  /** Without its sign; a `\r` before the line feed is kept. */
  readonly text: string;
  /** The file ends here, without a line feed. */
  readonly noNewline?: true;
}
