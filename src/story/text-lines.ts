import type { Line } from './line.js';
import { quote, say } from './spans.js';
import type { Window } from './window.js';

/** A longer line is cut for the eye; nobody reads on, and a terminal would choke. */
const MAX_LINE = 4_000;

/**
 * At most `count` lines of a text, safe to print. The text is never split whole: it may be 50 MiB.
 * @param from the first of them, 0-based
 */
export function textLines(text: string, count: number, from = 0): Window {
  const lines: Line[] = [];
  let total = 0;
  let start = 0;
  const take = (end: number) => {
    if (total >= from && lines.length < count) lines.push(shown(text.slice(start, end)));
    total++;
  };
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    take(end);
    start = end + 1;
  }
  if (start < text.length || total === 0) take(text.length);
  return { lines, total };
}

function shown(line: string): Line {
  if (line.length <= MAX_LINE) return quote(line);
  return [...quote(line.slice(0, MAX_LINE)), say(` … ${line.length - MAX_LINE} more characters`, 'dim')];
}
