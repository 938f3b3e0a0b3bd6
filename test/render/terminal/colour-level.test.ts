import { expect, test } from 'vitest';
import { type ColourSigns, colourLevel } from '../../../src/render/terminal/colour-level.js';

const tty: ColourSigns = { env: { TERM: 'xterm' }, isTTY: true, noColor: false };
const withEnv = (env: ColourSigns['env']): ColourSigns => ({ ...tty, env });

test.each<[string, ColourSigns, number]>([
  ['a plain terminal', tty, 1],
  ['256 colours', withEnv({ TERM: 'xterm-256color' }), 2],
  ['true colour', withEnv({ TERM: 'xterm', COLORTERM: 'truecolor' }), 3],
  ['a depth of 1 bit', { ...tty, depth: 1 }, 0],
  ['a depth of 4 bits', { ...tty, depth: 4 }, 1],
  ['a depth of 8 bits', { ...tty, depth: 8 }, 2],
  ['a depth of 24 bits', { ...tty, depth: 24 }, 3],
  ['a pipe', { ...tty, isTTY: false }, 0],
  ['a dumb terminal', withEnv({ TERM: 'dumb' }), 0],
  ['NO_COLOR', withEnv({ TERM: 'xterm', NO_COLOR: '1' }), 0],
  ['an empty NO_COLOR', withEnv({ TERM: 'xterm', NO_COLOR: '' }), 1],
  ['--no-color', { ...tty, noColor: true }, 0],
  ['--no-color against FORCE_COLOR', { ...withEnv({ FORCE_COLOR: '3' }), noColor: true }, 0],
  ['FORCE_COLOR=0', withEnv({ FORCE_COLOR: '0' }), 0],
  ['FORCE_COLOR=false', withEnv({ FORCE_COLOR: 'false' }), 0],
  ['FORCE_COLOR=2 into a pipe', { ...withEnv({ FORCE_COLOR: '2' }), isTTY: false }, 2],
  ['FORCE_COLOR=3 into a pipe', { ...withEnv({ FORCE_COLOR: '3' }), isTTY: false }, 3],
  ['FORCE_COLOR=true into a pipe', { ...withEnv({ FORCE_COLOR: 'true' }), isTTY: false }, 1],
])('%s', (_, signs, level) => {
  expect(colourLevel(signs)).toBe(level);
});
