import { cutLine } from '../../dress/cut-line.js';
import { dressLine } from '../../dress/dress.js';
import type { Reading } from './reading.js';
import { drawerOf, type Scene } from './rows.js';

/** What is seen of a document: its rows, and the headers that took the place of the first of them. */
export interface Screen {
  readonly rows: readonly string[];
  /** The lines that these rows are of; of a header's row, the line that it covers. */
  readonly lines: readonly number[];
  /** How many of the first rows are headers that have scrolled away. */
  readonly headers: number;
}

/** Only what is seen is drawn. @param reading settled */
export function screenOf(reading: Reading, scene: Scene): Screen {
  const { document, viewport, theme } = scene;
  const draw = drawerOf(reading, scene);
  const rows: string[] = [];
  const lines: number[] = [];
  for (let line = reading.line; line < document.length && rows.length < viewport.height; line++) {
    const own = draw(document.line(line)).slice(line === reading.line ? reading.row : 0);
    for (const row of own.slice(0, viewport.height - rows.length)) {
      rows.push(row);
      lines.push(line);
    }
  }
  const headers = headersOver(lines, scene).map(line => dressLine(cutLine(line, viewport.width), theme));
  return { rows: [...headers, ...rows.slice(headers.length)], lines, headers: headers.length };
}

/** Those of the first line that they leave to be seen. Where the next headers arrive, those before have left. */
function headersOver(lines: readonly number[], { document }: Scene) {
  for (const [row, line] of lines.entries()) {
    const headers = document.headersAt(line);
    if (headers.length <= row) return headers;
  }
  return [];
}

/** The first line that no header covers. */
export function firstSeen(screen: Screen): number {
  return screen.lines[screen.headers] ?? 0;
}
