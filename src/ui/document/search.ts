import type { Theme } from '../../dress/theme.js';
import { excerpt } from '../../text/excerpt.js';
import type { Document } from './document.js';
import { atMatch } from './go-to.js';
import { grouped } from './grouped.js';
import { matchesIn, whichOf } from './matches.js';
import { settled } from './place.js';
import type { Reading, Stepped, Viewport } from './reading.js';
import { type Scene, sceneOf } from './rows.js';
import { firstSeen, screenOf } from './screen.js';
import { patternOf } from './wanted.js';

/**
 * Goes to the first match from here on, from the top again where there is none below. Nothing to look for ends the search.
 * @param words plain text; capitals matter only where it has some; only the first line of what was pasted
 */
export function search(
  reading: Reading,
  words: string,
  document: Document,
  viewport: Viewport,
  theme: Theme,
): Stepped {
  const [wanted = ''] = words.split(/[\r\n]/, 1);
  if (wanted === '') return { reading: { ...reading, wanted: null, spot: null }, said: null };
  const scene = sceneOf(document, viewport, theme);
  const here = settled({ ...reading, wanted }, scene);
  return nextMatch(here, wanted, hereIn(here, scene), 1, scene);
}

/** To the next match beyond the one that was last gone to, or beyond what stands above what is seen. */
export function stepMatch(reading: Reading, step: 1 | -1, scene: Scene): Stepped {
  if (reading.wanted === null) return { reading, said: 'nothing is searched for' };
  const from = reading.spot === null && step > 0 ? hereIn(reading, scene) : hereIn(reading, scene) + step;
  return nextMatch(reading, reading.wanted, from, step, scene);
}

/** The line that one is at. */
export function hereIn(reading: Reading, scene: Scene): number {
  return reading.spot ?? firstSeen(screenOf(reading, scene));
}

function nextMatch(reading: Reading, wanted: string, from: number, step: 1 | -1, scene: Scene): Stepped {
  const { document } = scene;
  const pattern = patternOf(wanted);
  const find = (start: number) =>
    start >= 0 && start < document.length ? document.find(pattern, start, step) : null;
  const beyond = find(from);
  const found = beyond ?? find(step > 0 ? 0 : document.length - 1);
  if (found === null) return { reading: { ...reading, spot: null }, said: `not found: ${excerpt(wanted)}` };
  const again = step > 0 ? 'from the top again: ' : 'from the bottom again: ';
  const said = `${beyond === null ? again : ''}${matchWords(document, wanted, found)}`;
  return { reading: atMatch(reading, found, scene), said };
}

/** Several matches on a line are one place to go to. */
function matchWords(document: Document, wanted: string, line: number): string {
  const which = whichOf(matchesIn(document, wanted), line);
  return `match ${which === null ? '' : `${which} `}on line ${grouped(line + 1)}`;
}
