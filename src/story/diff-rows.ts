import { type Block, partnerOf } from '../display/diff/blocks.js';
import type { RowKind, Rows } from '../display/diff/model.js';
import { type Mark, wordMarks } from '../display/diff/words.js';
import { codeSpans } from './diff-code.js';
import type { FileLook } from './diff-look.js';
import type { Line, Tone } from './line.js';
import { say } from './spans.js';

/** A longer row is cut for the eye, and its words are not compared. */
const MAX_ROW = 4_000;

const SIGNS: Readonly<Record<RowKind, { sign: string; tone: Tone }>> = {
  context: { sign: ' ', tone: 'plain' },
  added: { sign: '+', tone: 'added' },
  removed: { sign: '-', tone: 'removed' },
};

/** The `at`-th line of a block: both numbers, the sign, the row. */
export function unifiedLine(block: Block, at: number, rows: Rows, look: FileLook): Line {
  const row = block.from + at;
  const { oldNo, newNo } = block;
  const number = (no: number | null) => `${no ?? ''}`.padStart(look.digits);
  const draw = (old: number | null, now: number | null) => [
    say(`${number(old)} ${number(now)} `, 'gutter'),
    ...rowSpans(block, row, rows, look),
  ];
  if (block.kind === 'unchanged') return draw(oldNo + at, newNo + at);
  return row < block.middle ? draw(oldNo + at, null) : draw(null, newNo + row - block.middle);
}

/** The `at`-th line of a block with its old half, a divider, and its new half; either may be empty. */
export function splitLine(block: Block, at: number, rows: Rows, look: FileLook): Line {
  const half = (no: number, row: number) => [
    say(`${`${no}`.padStart(look.digits)} `, 'gutter'),
    ...rowSpans(block, row, rows, look),
  ];
  const [oldNo, newNo] = [block.oldNo + at, block.newNo + at];
  const divider = say(' │ ', 'divider');
  if (block.kind === 'unchanged')
    return [...half(oldNo, block.from + at), divider, ...half(newNo, block.from + at)];
  const [removed, added] = [block.from + at, block.middle + at];
  return [
    ...(removed < block.middle ? half(oldNo, removed) : []),
    divider,
    ...(added < block.to ? half(newNo, added) : []),
  ];
}

/** The rows that stand on the `at`-th line of a block, as far as they are shown. */
export function rowTexts(block: Block, at: number, rows: Rows, { isSplit }: FileLook): readonly string[] {
  const shown = (row: number) => rows.textAt(row).slice(0, MAX_ROW);
  const { from, to } = block;
  if (block.kind === 'unchanged' || !isSplit) return [shown(from + at)];
  const [removed, added] = [from + at, block.middle + at];
  return [...(removed < block.middle ? [shown(removed)] : []), ...(added < to ? [shown(added)] : [])];
}

function rowSpans(block: Block, row: number, rows: Rows, { path, highlighter }: FileLook): Line {
  const kind = rows.kindAt(row) ?? 'context';
  const text = rows.textAt(row);
  const { sign, tone } = SIGNS[kind];
  const beyond = text.length - MAX_ROW;
  const code = beyond > 0 ? text.slice(0, MAX_ROW) : text;
  return [
    say(sign, tone),
    say(' ', 'gutter'),
    ...codeSpans({
      text: code,
      kind,
      marks: beyond > 0 ? [] : marksOf(block, row, rows),
      tokens: highlighter?.tokensOf(path, rows, row) ?? [],
    }),
    ...(beyond > 0 ? [say(` … ${beyond} more characters`, 'dim')] : []),
    ...(rows.endsWithoutNewline(row) ? [say(' \\ No newline at end of file', 'dim')] : []),
  ];
}

function marksOf(block: Block, row: number, rows: Rows): readonly Mark[] {
  const partner = block.kind === 'changed' ? partnerOf(block, row) : undefined;
  if (partner === undefined) return [];
  const [text, other] = [rows.textAt(row), rows.textAt(partner)];
  if (other.length > MAX_ROW) return [];
  return row < partner ? wordMarks(text, other).removed : wordMarks(other, text).added;
}
