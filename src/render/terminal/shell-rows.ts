import { quote } from '../line.js';
import { widthOf } from './fit.js';

/**
 * Splits a POSIX shell command into rows that can be pasted as the same command: a row that ends in a backslash continues in the next one.
 * Splits between words, and within words that are wider than a row.
 * @param text its words are plain, single-quoted, or escaped by backslashes; its line breaks are kept
 * @param columns width of a row, in cells
 */
export function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(2, columns - 2); // a quote and a backslash may follow
  const rows: string[] = [];
  let row = '';
  let wordEnd = 0;
  for (const piece of piecesOf(text)) {
    if (piece.text.endsWith('\n')) {
      rows.push(row + piece.text.slice(0, -1));
      row = '';
      wordEnd = 0;
      continue;
    }
    // The whole row is measured: joined characters take fewer cells than each of them.
    if (widthOf(quote(row + piece.text)) > room) {
      const { head, tail } = splitRow(row, wordEnd, piece);
      rows.push(`${head}\\`);
      row = tail;
      wordEnd = 0;
    }
    row += piece.text;
    if (piece.text === ' ' && !piece.isQuoted && row.trim() !== '') wordEnd = row.length;
  }
  return [...rows, row];
}

/** A part of a command that stays whole: a character, or a backslash and the character after it. */
interface Piece {
  readonly text: string;
  /** Whether a single-quoted text is open before it. */
  readonly isQuoted: boolean;
}

function piecesOf(text: string): readonly Piece[] {
  // Single-quoted text has no escapes; elsewhere a backslash belongs to the next character.
  const parts = text.match(/'[^']*'?|\\[\s\S]|[^']/gu) ?? [];
  return parts.flatMap(part =>
    part.startsWith("'")
      ? Array.from(part, (character, index) => ({ text: character, isQuoted: index > 0 }))
      : [{ text: part, isQuoted: false }],
  );
}

/** Splits a row after its last whole word; without one (0) at its end, where quotes are closed and opened again. */
function splitRow(row: string, wordEnd: number, { isQuoted }: Piece): { head: string; tail: string } {
  if (wordEnd > 0) return { head: row.slice(0, wordEnd), tail: row.slice(wordEnd) };
  const quotes = isQuoted ? "'" : '';
  return { head: row + quotes, tail: quotes };
}
