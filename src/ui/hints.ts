import { cutLine, widthOf } from '../dress/cut-line.js';
import type { Line } from '../story/line.js';
import { say } from '../story/spans.js';

/** A key, and what it does. */
export type Hint = readonly [key: string, does: string];

const GAP = say('   ');

/** Keys in a line of `width` cells: as many of the first as there is room for, and always the last ones. */
export function hintsLine(hints: readonly Hint[], always: readonly Hint[], width: number): Line {
  const ends = always.map(hintLine);
  const left = width - widthOf(spread(ends));
  return cutLine(spread([...fitting(hints.map(hintLine), left), ...ends]), width);
}

function hintLine([key, does]: Hint): Line {
  return [say(key, 'title'), say(` ${does}`, 'dim')];
}

function spread(hints: readonly Line[]): Line {
  return hints.flatMap((hint, index) => (index === 0 ? hint : [GAP, ...hint]));
}

/** The first ones that fit, each with a gap after it. */
function fitting(hints: readonly Line[], width: number): readonly Line[] {
  let left = width;
  return hints.filter(hint => {
    left -= widthOf(hint) + GAP.text.length;
    return left >= 0;
  });
}
