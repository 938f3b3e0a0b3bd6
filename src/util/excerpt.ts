import { visibleLine } from './visible.js';

const LONGEST = 60;

/** Quotes the start of foreign text for a message: one line, safe to print. */
export function excerpt(text: string): string {
  const head = Array.from(text.slice(0, 2 * LONGEST))
    .slice(0, LONGEST)
    .join('');
  return `"${visibleLine(head)}${head.length < text.length ? '…' : ''}"`;
}

/** Elapsed milliseconds, rounded to microseconds. */
export function since(at: number, start: number): number {
  return Math.round((at - start) * 1_000) / 1_000;
}
