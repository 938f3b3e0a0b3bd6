import type { Hunk, RowKind } from '../../../src/display/diff-model.js';
import { blocksOf } from '../../../src/display/diff-model.js';

/** A row with all that is known of it; a number is null where its side has no such line. */
export interface Row {
  readonly kind: RowKind | undefined;
  readonly oldNo: number | null;
  readonly newNo: number | null;
  readonly text: string;
  readonly endsWithoutNewline: boolean;
}

/** The rows of a hunk as plain values. */
export function rowsOf(hunk: Hunk): Row[] {
  return [...blocksOf(hunk)].flatMap(block =>
    Array.from({ length: block.to - block.from }, (_, at) => {
      const index = block.from + at;
      const kind = hunk.rows.kindAt(index);
      const isAdded = block.kind === 'changed' && index >= block.middle;
      const newNo = block.newNo + (isAdded ? index - block.middle : at);
      return {
        kind,
        oldNo: kind === 'added' ? null : block.oldNo + at,
        newNo: kind === 'removed' ? null : newNo,
        text: hunk.rows.textAt(index),
        endsWithoutNewline: hunk.rows.endsWithoutNewline(index),
      };
    }),
  );
}
