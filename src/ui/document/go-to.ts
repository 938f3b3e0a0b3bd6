import { matchIn } from './match-place.js';
import { above, settled } from './place.js';
import type { Reading } from './reading.js';
import type { Scene } from './rows.js';
import { screenOf } from './screen.js';

/** Of the screen, what stands above a match that was not in sight. */
const ABOVE = 1 / 3;

/** The reading with this line at the top, below its headers; no further down than the last screen. */
export function atTop(reading: Reading, line: number, scene: Scene): Reading {
  const headers = scene.document.headersAt(line).length;
  const place = above({ ...reading, line, row: 0 }, headers, scene);
  return settled({ ...reading, ...place, spot: line }, scene);
}

/** The reading with the match of this line in sight: it stays where it is, unless that is not seen. */
export function atMatch(reading: Reading, line: number, scene: Scene): Reading {
  const { row, left } = matchIn(scene.document.line(line), reading, scene);
  const found = { ...reading, left, spot: line };
  if (isSeen(found, { line, row }, scene)) return found;
  const before = Math.floor(scene.viewport.height * ABOVE);
  return settled({ ...found, ...above({ ...found, line, row }, before, scene) }, scene);
}

function isSeen(reading: Reading, { line, row }: Pick<Reading, 'line' | 'row'>, scene: Scene): boolean {
  const { lines, headers } = screenOf(reading, scene);
  const hidden = line === reading.line ? reading.row : 0;
  const first = lines.indexOf(line);
  const at = first + row - hidden;
  return first >= 0 && at >= headers && lines[at] === line;
}
