import type { Highlighter } from '../../display/syntax/highlighter.js';
import type { Look } from './document.js';
import type { Reading, Viewport } from './reading.js';

/** From here on there is room for old and new beside each other. */
const WIDE = 120;

export function isSplit({ layout }: Reading, { width }: Viewport): boolean {
  return layout === 'split' || (layout === 'auto' && width >= WIDE);
}

/** How a document is to be laid out for a reading. */
export function lookOf(reading: Reading, viewport: Viewport, highlighter: Highlighter | null): Look {
  return { isSplit: isSplit(reading, viewport), isUnfolded: reading.isUnfolded, highlighter };
}
