import type { Line } from '../../story/line.js';
import { halvesOf, partsOfHalf } from '../../story/line-parts.js';

/** What a search may find in a body, at the places where it stands there: a hidden character's picture is none of its words. */
export function searchable(body: Line): string {
  return body.map(({ text, tone }) => (tone === 'hidden' ? '\n'.repeat(text.length) : text)).join('');
}

/** What a search may find in a line. */
export function ownText(line: Line): string {
  return halvesOf(line)
    .halves.map(half => searchable(partsOfHalf(half).body))
    .join('\n');
}
