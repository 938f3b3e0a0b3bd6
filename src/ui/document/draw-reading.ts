import type { Theme } from '../../dress/theme.js';
import type { Document } from './document.js';
import { settled } from './place.js';
import type { Reading, Viewport } from './reading.js';
import { sceneOf } from './rows.js';
import { firstSeen, type Screen, screenOf } from './screen.js';
import { statusOf } from './status.js';

/** What is seen of a document, and where that is. */
export interface Drawn {
  /** At most as many as the viewport is high, none wider than it. */
  readonly rows: readonly string[];
  /** `12–34 of 5,000 · hunk 2/5` */
  readonly status: string;
  /** Nothing is below. */
  readonly isAtEnd: boolean;
}

/** Below it, no line with two halves can be drawn. */
const LEAST_WIDTH = 5;

/** What a person sees of a document. */
export function drawReading(reading: Reading, document: Document, viewport: Viewport, theme: Theme): Drawn {
  if (viewport.width < LEAST_WIDTH || viewport.height < 1 || document.length === 0)
    return { rows: [], status: '', isAtEnd: true };
  const scene = sceneOf(document, viewport, theme);
  const here = settled(reading, scene);
  const screen = screenOf(here, scene);
  const status = statusOf(document, screen.lines, lineRead(here, screen));
  return { rows: screen.rows, status, isAtEnd: here.isAtEnd };
}

/** Whoever has scrolled to the end reads what is last, be it as short as it may: nothing of it ever gets to the top. */
function lineRead({ spot, line, isAtEnd }: Reading, screen: Screen): number {
  if (spot !== null) return spot;
  return (isAtEnd && line > 0 ? screen.lines.at(-1) : undefined) ?? firstSeen(screen);
}
