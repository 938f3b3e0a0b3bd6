import type { Sheet } from '../../src/tui/calls/tabs.js';
import { words } from '../support/words.js';

/** What is read in a sheet, part by part, each below its title. */
export function read({ parts }: Sheet): string[][] {
  return parts.map(({ title, document }) => [
    words(title),
    ...Array.from({ length: document.length }, (_, index) => words(document.line(index))),
  ]);
}
