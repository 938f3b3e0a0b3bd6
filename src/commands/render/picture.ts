import { svgLines } from '../../dress/svg/picture.js';
import { runsOf } from '../../dress/svg/runs.js';
import { type Look, rowsOf } from './rows.js';
import type { Section } from './sheet.js';

/** What is shown as the lines of an SVG. The rows are laid out twice, since a picture says its height first. */
export function pictureLines(sections: readonly Section[], look: Look): Iterable<string> {
  let height = 0;
  for (const _ of rowsOf(sections, look)) height++;
  return svgLines({ columns: look.width, height, rows: runs(rowsOf(sections, look)), title: 'protocol-cli' });
}

function* runs(rows: Iterable<string>) {
  for (const row of rows) yield runsOf(row);
}
