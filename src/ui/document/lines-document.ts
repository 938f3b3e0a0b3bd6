import type { Line } from '../../story/line.js';
import type { Document } from './document.js';
import { ownText } from './own-text.js';
import { unfolded } from './unfolded.js';

/** Lines that are few, or that are there already. */
export function linesDocument(lines: readonly Line[]): Document {
  return {
    length: lines.length,
    line: index => lines[index] ?? [],
    headersAt: () => [],
    find(wanted, from, step) {
      for (let index = from; index >= 0 && index < lines.length; index += step)
        if (wanted.test(ownText(lines[index] ?? []))) return index;
      return null;
    },
    landmarks: () => [],
    ...unfolded(lines.length),
  };
}
