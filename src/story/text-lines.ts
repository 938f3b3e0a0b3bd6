import type { Line } from './line.js';
import { quote, say } from './spans.js';

/** A longer line is cut for the eye; nobody reads on, and a terminal would choke. */
const MAX_LINE = 4_000;

export interface Window {
  readonly lines: readonly Line[];
  /** How many lines there are in all. */
  readonly total: number;
}

/** The first `count` lines of a text, safe to print. The text is never split whole: it may be 50 MiB. */
export function textLines(text: string, count: number): Window {
  const lines: Line[] = [];
  let total = 0;
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    if (total++ < count) lines.push(shown(text.slice(from, end)));
    from = end + 1;
  }
  const last = text.slice(from);
  if (last !== '' || total === 0) {
    total++;
    if (lines.length < count) lines.push(shown(last));
  }
  return { lines, total };
}

function shown(line: string): Line {
  if (line.length <= MAX_LINE) return quote(line);
  return [...quote(line.slice(0, MAX_LINE)), say(` … ${line.length - MAX_LINE} more characters`, 'dim')];
}
