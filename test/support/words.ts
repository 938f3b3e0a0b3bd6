import type { Line } from '../../src/render/line.js';

/** A line as it reads, without its tones. */
export function words(line: Line): string {
  return line.map(span => span.text).join('');
}

/** Lines as they read. */
export function plainText(lines: readonly Line[]): string {
  return lines.map(line => words(line).trimEnd()).join('\n');
}
