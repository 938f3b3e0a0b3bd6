import { parsePatch } from '../../../src/display/diff/parse.js';
import { createTheme } from '../../../src/dress/theme.js';
import {
  type Document,
  FIRST_READING,
  type Reading,
  type ReadingCommand,
  stepReading,
  type Viewport,
} from '../../../src/ui/document/index.js';

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

/** What a person has read after these commands. */
export function readAfter(
  document: Document,
  viewport: Viewport,
  commands: readonly ReadingCommand[],
  first: Reading = FIRST_READING,
): Reading {
  return commands.reduce(
    (reading, command) => stepReading(reading, command, document, viewport, theme).reading,
    first,
  );
}
