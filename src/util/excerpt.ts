import { visibleLine } from './visible.js';

const LONGEST = 60;

/** A piece of foreign text, quoted for a message: one line, safe to print, never long. */
export function excerpt(text: string): string {
  const head = Array.from(text.slice(0, 2 * LONGEST))
    .slice(0, LONGEST)
    .join('');
  return `"${visibleLine(head)}${head.length < text.length ? '…' : ''}"`;
}

/** Milliseconds, without the noise that subtracting decimals makes. */
export function since(at: number, start: number): number {
  return Math.round((at - start) * 1_000) / 1_000;
}
