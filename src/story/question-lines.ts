import type { UserChoice } from '../protocol/callbacks/index.js';
import type { Line } from './line.js';
import { say } from './spans.js';
import { textLines } from './text-lines.js';
import { clipped } from './tool-calls/clip.js';

/** Of a prompt, and of choices; nobody is asked a book. */
const MOST_LINES = 200;
const MOST_CHOICES = 1_000;
/** Characters of a choice. */
const LONGEST = 2_000;

export const DEFAULT = say(' (default)', 'dim');

/** What a tool asks: the lines of its prompt, then its choices, the default one marked. */
export function questionLines({ prompt, choices, default: preset }: UserChoice): Line[] {
  const { lines, total } = textLines(prompt, MOST_LINES);
  const [first = [], ...others] = lines.map(titled);
  return [
    [say('the tool asks: '), ...first],
    ...others,
    ...more(total - lines.length, 'lines'),
    ...choices.slice(0, MOST_CHOICES).map((choice, index): Line => {
      const mark = index === preset ? [DEFAULT] : [];
      return [say(`${index} `, 'gutter'), ...clipped(choice, 'plain', LONGEST), ...mark];
    }),
    ...more(choices.length - MOST_CHOICES, 'choices'),
  ];
}

function more(count: number, what: string): Line[] {
  return count > 0 ? [[say(`… ${count} more ${what}`, 'dim')]] : [];
}

function titled(line: Line): Line {
  return line.map(span => (span.tone === 'plain' ? say(span.text, 'title') : span));
}
