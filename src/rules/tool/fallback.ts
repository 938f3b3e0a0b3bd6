import { chooseSegment } from '../../display/choose.js';
import { knownTypes } from '../../display/segments/index.js';
import { type Display, displaysOf } from '../evidence/displays.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** TOOL-FALLBACK: what a client is warned of is what is judged. An order that hides a segment was hardly meant. */
export const endsWithText: Rule = {
  id: 'TOOL-FALLBACK',
  isOffered: true,
  absent: 'no result had a display_as',
  observe: evidence => displaysOf(evidence).map(onDisplay),
};

function onDisplay({ callback, segments }: Display): Observation {
  const { warnings } = chooseSegment(segments, knownTypes);
  const spots = [sent(callback, 'display_as')];
  const missing = warnings.find(({ id }) => id === 'TOOL-FALLBACK');
  if (missing) return broken(missing.message, [callback], { spots });
  const hidden = warnings.find(({ id }) => id === undefined);
  return hidden ? doubtful(hidden.message, [callback], { spots }) : held([callback]);
}
