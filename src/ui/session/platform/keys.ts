import type { Line } from '../../../story/line.js';
import { type Hint, hintsLine } from '../../hints.js';
import { bindingLines, ENDS } from '../../list/foot.js';
import { BINDINGS, type Command } from '../../list/keys.js';
import type { View } from '../../list/view.js';

/** A platform has nothing that could be held back, sent again or fired. */
const NONE_HERE: ReadonlySet<Command> = new Set(['pause', 'replay', 'fire']);

/** The keys that matter now; as many as there is room for, and always how to see the others. */
export function statusLine({ page }: View, width: number): Line {
  const hints: readonly Hint[] = [
    ['↑↓', 'select'],
    ['⏎', page === 'list' ? 'details' : 'list'],
    ['G', 'follow'],
  ];
  return hintsLine(hints, ENDS, width);
}

/** All of them, for the help. */
export function keyLines(): readonly Line[] {
  const here = BINDINGS.filter(({ command }) => !NONE_HERE.has(command));
  return bindingLines(here.map(each => (each.command === 'quit' ? { ...each, does: 'end' } : each)));
}
