import { type Line, quote } from '../../render/line.js';
import { widthOf } from '../../render/terminal/fit.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import type { Page } from './state.js';

/** The rows of a page, without its title. */
export function pageLines({ text, isCommand }: Page, columns: number): readonly Line[] {
  const lines = isCommand ? shellRows(text, columns) : [text];
  return lines.flatMap(line => wrapRows(quote(line), columns));
}

/**
 * Splits a POSIX shell command into rows that can be pasted as the same command: a row that ends in a backslash continues in the next one.
 * Splits between words, and within words that are wider than a row.
 * @param text its words are plain, single-quoted, or escaped by backslashes; its line breaks are kept
 */
function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(2, columns - 2);
  // Single-quoted text has no escapes; elsewhere a backslash belongs to the next character.
  const atoms = text.match(/'[^']*'?|\\[\s\S]|[^']/gu) ?? [];
  const rows: string[] = [];
  let row = '';
  let gap = 0;
  let isQuoted = false;
  for (const atom of atoms.flatMap(each => (each.startsWith("'") ? [...each] : [each]))) {
    if (!atom.endsWith('\n') && widthOf(quote(row + atom)) > room) {
      const quotes = gap === 0 && isQuoted ? "'" : '';
      const end = gap || row.length;
      rows.push(`${row.slice(0, end)}${quotes}\\`);
      [row, gap] = [quotes + row.slice(end), 0];
    }
    row += atom;
    if (atom === ' ' && !isQuoted && row.trim() !== '') gap = row.length;
    isQuoted = isQuoted !== (atom === "'");
    if (atom.endsWith('\n')) {
      rows.push(row.slice(0, -1));
      [row, gap] = ['', 0];
    }
  }
  return [...rows, row];
}
