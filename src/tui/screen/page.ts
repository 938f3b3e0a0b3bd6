import { type Line, quote } from '../../render/line.js';
import { shellRows } from '../../render/terminal/shell-rows.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import type { Page } from './state.js';

/** The rows of a page, without its title. */
export function pageLines({ text, isCommand }: Page, columns: number): readonly Line[] {
  const lines = isCommand ? shellRows(text, columns) : [text];
  return lines.flatMap(line => wrapRows(quote(line), columns));
}
