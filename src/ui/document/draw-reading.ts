import type { Theme } from '../../dress/theme.js';
import type { Document } from './document.js';
import { settled } from './place.js';
import type { Reading, Viewport } from './reading.js';
import { sceneOf } from './rows.js';
import { firstSeen, screenOf } from './screen.js';
import { statusOf } from './status.js';

/** Below it, no line with two halves can be drawn. */
const LEAST_WIDTH = 5;

/**
 * What a person sees of a document: at most as many rows as the viewport is high, none wider than it; and where that is,
 * as `12–34 of 5,000 · hunk 2/5`.
 */
export function drawReading(
  reading: Reading,
  document: Document,
  viewport: Viewport,
  theme: Theme,
): { readonly rows: readonly string[]; readonly status: string } {
  if (viewport.width < LEAST_WIDTH || viewport.height < 1 || document.length === 0)
    return { rows: [], status: '' };
  const scene = sceneOf(document, viewport, theme);
  const here = settled(reading, scene);
  const screen = screenOf(here, scene);
  return { rows: screen.rows, status: statusOf(document, screen.lines, here.spot ?? firstSeen(screen)) };
}
