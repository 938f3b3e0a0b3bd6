import { wrapLine } from '../../dress/dress.js';
import { slideLine } from '../../dress/slide-line.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import type { Document } from './document.js';
import { marked } from './marks.js';
import type { Reading, Viewport } from './reading.js';
import { patternOf } from './wanted.js';

/** What is read, and where it is seen. */
export interface Scene {
  readonly document: Document;
  readonly viewport: Viewport;
  readonly theme: Theme;
  /** How many rows a line takes where it is wrapped: one at least. */
  readonly heightOf: (index: number) => number;
}

/** Each height is found out once: wrapping is what costs most. */
export function sceneOf(document: Document, viewport: Viewport, theme: Theme): Scene {
  const known = new Map<number, number>();
  const heightOf = (index: number) => {
    const height = known.get(index) ?? wrapLine(document.line(index), viewport.width, theme).length;
    known.set(index, height);
    return height;
  };
  return { document, viewport, theme, heightOf };
}

/** How many rows a line takes as it is read. */
export function heightAt({ isWrapped }: Reading, index: number, { heightOf }: Scene): number {
  return isWrapped ? heightOf(index) : 1;
}

/** Draws lines as they are read. */
export function drawerOf(reading: Reading, { viewport, theme }: Scene): (line: Line) => readonly string[] {
  const { isWrapped, left, wanted } = reading;
  const { width } = viewport;
  const pattern = wanted === null ? null : patternOf(wanted);
  return line => {
    const drawn = pattern ? marked(line, pattern) : line;
    return wrapLine(isWrapped ? drawn : slideLine(drawn, left, width), width, theme);
  };
}
