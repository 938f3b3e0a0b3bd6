import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import { type Hint, hintsLine } from '../hints.js';
import { BINDINGS } from './keys.js';
import type { View } from './view.js';

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

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
  const width = Math.max(...BINDINGS.map(({ label }) => label.length));
  return [
    [say('KEYS', 'title')],
    ...BINDINGS.map(
      ({ label, does }): Line => [say(label.padEnd(width), 'title'), say('  ', 'gutter'), say(does)],
    ),
  ];
}
