import type { Reading } from './reading.js';
import { heightAt, type Scene } from './rows.js';

/** A row of a document: of which line, and which of that line's. */
export type Place = Pick<Reading, 'line' | 'row'>;

/** So many rows further down, and no further than the last. */
export function below(reading: Reading, rows: number, scene: Scene): Place {
  let { line, row } = reading;
  let left = rows;
  for (; ; line++) {
    const height = heightAt(reading, line, scene);
    if (row + left < height) return { line, row: row + left };
    if (line >= scene.document.length - 1) return { line, row: height - 1 };
    left -= height - row;
    row = 0;
  }
}

/** So many rows further up, and no further than the first. */
export function above(reading: Reading, rows: number, scene: Scene): Place {
  let { line, row } = reading;
  let left = rows;
  while (left > row) {
    if (line === 0) return { line: 0, row: 0 };
    left -= row + 1;
    line--;
    row = heightAt(reading, line, scene) - 1;
  }
  return { line, row: row - left };
}

/** The first row of the last screen. */
export function last(reading: Reading, scene: Scene): Place {
  const line = Math.max(0, scene.document.length - 1);
  const end = { ...reading, line, row: heightAt(reading, line, scene) - 1 };
  return above(end, Math.max(0, scene.viewport.height - 1), scene);
}

/** The same reading where there is something to read: the document or the screen may have become another. */
export function settled(reading: Reading, scene: Scene): Reading {
  const { line, row } = reading;
  const end = last(reading, scene);
  const isAtEnd = line > end.line || (line === end.line && row >= end.row);
  if (isAtEnd) return { ...reading, ...end, isAtEnd };
  return { ...reading, row: Math.min(row, heightAt(reading, line, scene) - 1), isAtEnd };
}
