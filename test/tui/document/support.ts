import { parsePatch } from '../../../src/display/diff.js';
import { createTheme } from '../../../src/render/terminal/theme.js';
import type { Document } from '../../../src/tui/document/documents.js';
import {
  DocumentView,
  FIRST_READING,
  type Reading,
  type ReadingCommand,
  type Viewport,
} from '../../../src/tui/document/view.js';

export const theme = createTheme(0);

export const PLAIN = { isSplit: false, isUnfolded: false, highlighter: null };

export function diffOf(patch: string) {
  const result = parsePatch(patch);
  if (!result.ok) throw new Error(result.reason);
  return result.diff;
}

/** `line 1`, `line 2`, … */
export function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');
}

export function viewOf(document: Document, viewport: Viewport): DocumentView {
  return new DocumentView(document, viewport, theme);
}

/** What a person has read after these commands. */
export function readAfter(
  document: Document,
  viewport: Viewport,
  commands: readonly ReadingCommand[],
  first: Reading = FIRST_READING,
): Reading {
  const view = viewOf(document, viewport);
  return commands.reduce((reading, command) => view.step(reading, command).reading, first);
}
