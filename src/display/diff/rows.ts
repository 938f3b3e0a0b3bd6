import type { Row, RowKind } from './model.js';

const KINDS: Readonly<Record<string, RowKind>> = { '+': 'added', '-': 'removed' };

/** Numbers the lines of a hunk's body and hangs each `\ No newline` on the row it is about. */
export function rowsOf(body: readonly string[], oldStart: number, newStart: number): Row[] {
  const rows: Row[] = [];
  let oldNo = oldStart;
  let newNo = newStart;
  for (const [index, line] of body.entries()) {
    if (line.startsWith('\\')) continue;
    const kind = KINDS[line.charAt(0)] ?? 'context';
    rows.push({
      kind,
      ...(kind === 'added' ? {} : { oldNo: oldNo++ }),
      ...(kind === 'removed' ? {} : { newNo: newNo++ }),
      text: line.slice(1),
      ...(body[index + 1]?.startsWith('\\') ? { noNewline: true } : {}),
    });
  }
  return rows;
}
