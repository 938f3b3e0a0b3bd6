import type { Line } from '../../line.js';
import { say } from '../../spans.js';

const LABEL = 10;
/** Characters of one value. */
export const MOST = 2_000;

export function labelled(label: string, ...line: Line): Line {
  return [say(label.padEnd(LABEL), 'gutter'), ...line];
}

/** Whoever has a callback URL can speak into a conversation: where it leads is enough to know (threats, row 25). */
export function withoutPath(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : '(not a URL)';
}
