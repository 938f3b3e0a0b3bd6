import { expect, test } from 'vitest';
import { colourOf } from '../../src/commands/terminal.js';

/** A terminal of this colour depth in bits. */
const terminalOf = (depth: number) =>
  ({ isTTY: true, getColorDepth: () => depth }) as unknown as NodeJS.WriteStream;

test.each([
  ['where TERM is unset, as on Windows, its depth decides', 24, {}, 3],
  ['a depth of 4 bits', 4, {}, 1],
  ['TERM decides where it is set', 24, { TERM: 'xterm' }, 1],
])('the colours of a terminal: %s', (_, depth, env, level) => {
  expect(colourOf(terminalOf(depth), { color: true }, { env })).toBe(level);
});
