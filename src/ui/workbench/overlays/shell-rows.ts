import { widthOf } from '../../../dress/cut-line.js';
import { quote } from '../../../story/spans.js';

/** What is in quotes, where a backslash is none; a character with the backslash that escapes it; any other. */
const PIECES = /'[^']*'?|\\[\s\S]|[^']/gu;
const ASCII = /^[\x20-\x7e]+$/;
/** What a row may need at its end to go on in the next one. */
const END = `'\\`;

/** A row as far as it is written. */
interface Row {
  readonly text: string;
  /** Where it can be parted between two words; 0 where it cannot. */
  readonly gap: number;
  /** It ends within single quotes. */
  readonly isQuoted: boolean;
}

/**
 * A command of a POSIX shell on rows of so many cells, each of them whole when it is pasted: one that ends in a backslash goes on in
 * the next.
 * @param text its words are plain, in single quotes, or escaped by a backslash; a row break in it stays one
 */
export function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(END.length, columns - END.length);
  const rows: string[] = [];
  let row: Row = { text: '', gap: 0, isQuoted: false };
  for (const atom of atomsOf(text)) {
    if (atom.endsWith('\n')) {
      rows.push(row.text + atom.slice(0, -1));
      row = { ...row, text: '', gap: 0 };
    } else {
      if (cells(row.text) + cells(atom) > room) row = parted(row, done => rows.push(done));
      row = grown(row, atom);
    }
  }
  return [...rows, row.text];
}

/** What is not parted: characters, each with what escapes it. */
function atomsOf(text: string): readonly string[] {
  return [...text.matchAll(PIECES)].flatMap(([piece]) => (piece.startsWith("'") ? [...piece] : [piece]));
}

function grown({ text, gap, isQuoted }: Row, atom: string): Row {
  const isBlank = text.trim() === '';
  return {
    text: text + atom,
    gap: atom === ' ' && !isQuoted && !isBlank ? text.length + 1 : gap,
    isQuoted: isQuoted !== (atom === "'"),
  };
}

/** What goes on in the next row: the last word; a part of it where it is the only one. @param end takes the row before */
function parted({ text, gap, isQuoted }: Row, end: (row: string) => void): Row {
  end(gap > 0 ? `${text.slice(0, gap)}\\` : isQuoted ? text + END : `${text}\\`);
  return { text: gap > 0 ? text.slice(gap) : isQuoted ? "'" : '', gap: 0, isQuoted };
}

function cells(text: string): number {
  return ASCII.test(text) ? text.length : widthOf(quote(text));
}
