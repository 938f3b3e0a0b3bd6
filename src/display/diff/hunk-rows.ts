import type { RowKind, Rows } from './model.js';
import type { HunkOutline } from './outline.js';
import type { PatchLines } from './patch-lines.js';

const REMARK = '\\';
const KINDS: Readonly<Record<string, RowKind>> = { '+': 'added', '-': 'removed' };

/** The rows of a hunk as offsets into the patch: four bytes each, however long they are. */
class HunkRows implements Rows {
  constructor(
    private readonly patch: string,
    private readonly starts: Uint32Array,
  ) {}

  get length(): number {
    return this.starts.length;
  }

  kindAt(index: number): RowKind | undefined {
    const start = this.starts[index];
    return start === undefined ? undefined : (KINDS[this.patch.charAt(start)] ?? 'context');
  }

  textAt(index: number): string {
    const start = this.starts[index];
    if (start === undefined) return '';
    return this.patch.slice(start + 1, Math.max(start + 1, this.#endOf(start)));
  }

  endsWithoutNewline(index: number): boolean {
    const start = this.starts[index];
    return start !== undefined && this.patch.charAt(this.#endOf(start) + 1) === REMARK;
  }

  #endOf(start: number): number {
    const end = this.patch.indexOf('\n', start);
    return end < 0 ? this.patch.length : end;
  }
}

/** The rows of a hunk; each `\ No newline` is no row of its own, it is about the one before it. */
export function rowsOf(lines: PatchLines, { at, height }: HunkOutline): Rows {
  const from = at + 1;
  const starts = lines.starts(from, from + height);
  const isRow = (_: number, index: number) => lines.signAt(from + index) !== REMARK;
  return new HunkRows(lines.text, starts.every(isRow) ? starts : starts.filter(isRow));
}
