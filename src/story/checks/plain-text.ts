import type { Line } from '../line.js';

/** Lines without their looks. */
export function plainText(lines: readonly Line[]): string {
  return lines
    .map(line =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
