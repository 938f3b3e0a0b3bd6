import type { Line } from '../story/line.js';
import { quote, say } from '../story/spans.js';

/** Something in a row of several, one of which is chosen. */
export interface Choosable {
  readonly text: string;
  readonly isChosen: boolean;
}

/** Without colour the brackets alone tell. */
export function chosenLine(choices: readonly Choosable[]): Line {
  return choices.flatMap(({ text, isChosen }) =>
    isChosen
      ? [say('[', 'running'), ...quote(text, 'title'), say('] ', 'running')]
      : [say(' '), ...quote(text, 'dim'), say('  ')],
  );
}
