import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import { type Hint, hintsLine } from '../hints.js';
import { BINDINGS } from './keys.js';
import type { View } from './view.js';

/** How to see all keys, and how to leave. */
export const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

/** The keys that matter now; as many as there is room for, and always how to see the others. */
export function statusLine({ page }: View, isPaused: boolean, width: number): Line {
  const hints: readonly Hint[] = [
    ['↑↓', 'select'],
    ['⏎', page === 'list' ? 'details' : 'list'],
    ['r', 'replay'],
    ['e', 'fire'],
    ['p', isPaused ? 'resume' : 'pause'],
    ['G', 'follow'],
  ];
  return hintsLine(hints, ENDS, width);
}

/** All of them, for the help. */
export function keyLines(): readonly Line[] {
  return bindingLines(BINDINGS);
}

/** These keys, and what they do. */
export function bindingLines(bindings: typeof BINDINGS): readonly Line[] {
  const width = Math.max(...bindings.map(({ label }) => label.length));
  return [
    [say('KEYS', 'title')],
    ...bindings.map(
      ({ label, does }): Line => [say(label.padEnd(width), 'title'), say('  ', 'gutter'), say(does)],
    ),
  ];
}
