import type { Line } from '../../src/render/line.js';

/** A line as it reads, without its tones. */
export function words(line: Line): string {
  return line.map(span => span.text).join('');
}
