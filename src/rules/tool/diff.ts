import { diffKind } from '../../display/segments/diff.js';
import { type Display, displaysOf } from '../evidence/displays.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** TOOL-DIFF: a path, and a patch that is one. Wrong line counts are counted anew (the example of seed 000 has them). */
export const givesUnifiedDiffs: Rule = {
  id: 'TOOL-DIFF',
  isOffered: true,
  absent: 'no result had a diff to show',
  observe: evidence => displaysOf(evidence).flatMap(onDisplay),
};

function onDisplay({ callback, segments }: Display): readonly Observation[] {
  return segments.flatMap(({ type, content }, index) => {
    if (type !== diffKind.type) return [];
    const reading = diffKind.read(content);
    const place = `display_as[${index}]`;
    const spots = [sent(callback, 'display_as', index, 'content')];
    if (!reading.ok) return [broken(`${place}: ${reading.reason}`, [callback], { spots })];
    return [
      reading.complaint === undefined
        ? held([callback])
        : doubtful(`${place}: ${reading.complaint}`, [callback], { spots }),
    ];
  });
}
