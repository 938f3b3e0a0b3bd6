import type { Line, Span } from './line.js';

/** A line in the halves on both sides of its divider; one without is a single half. */
export function halvesOf(line: Line): {
  readonly halves: readonly Line[];
  readonly divider: Span | undefined;
} {
  const at = line.findIndex(({ tone }) => tone === 'divider');
  return at < 0
    ? { halves: [line], divider: undefined }
    : { halves: [line.slice(0, at), line.slice(at + 1)], divider: line[at] };
}

/** The same line with each half changed. */
export function withHalves(line: Line, change: (half: Line, index: number) => Line): Line {
  const { halves, divider } = halvesOf(line);
  return halves.flatMap((half, index) =>
    index > 0 && divider ? [divider, ...change(half, index)] : change(half, index),
  );
}

/** A half in its gutter (up to the last gutter span: numbers, a sign) and what comes after it. */
export function partsOfHalf(half: Line): { readonly gutter: Line; readonly body: Line } {
  const start = half.findLastIndex(({ tone }) => tone === 'gutter') + 1;
  return { gutter: half.slice(0, start), body: half.slice(start) };
}
