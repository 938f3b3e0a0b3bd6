import { cutLine } from '../dress/cut-line.js';
import type { Line } from '../story/line.js';
import { quote, say } from '../story/spans.js';

/** Something in a row of several, one of which is chosen. */
export interface Choosable {
  readonly text: string;
  readonly isChosen: boolean;
  /** Cells of its text at most. */
  readonly most?: number;
}

/** Without colour the brackets alone tell. */
export function chosenLine(choices: readonly Choosable[]): Line {
  return choices.flatMap(({ text, isChosen, most = Number.POSITIVE_INFINITY }) =>
    isChosen
      ? [say('[', 'running'), ...cutLine(quote(text, 'title'), most), say('] ', 'running')]
      : [say(' '), ...cutLine(quote(text, 'dim'), most), say('  ')],
  );
}
