import { expect, test } from 'vitest';
import { say } from '../../src/render/line.js';
import { Lines } from '../../src/tui/components/Line.js';
import { mount } from '../../src/tui/mount.js';
import { common } from '../screen/support/cell.js';
import { Emulator } from '../screen/support/emulator.js';
import { fakeKeyboard } from '../screen/support/fake-keyboard.js';
import { fakeTerminal } from '../screen/support/fake-terminal.js';

const SIZE = { columns: 40, rows: 8 };
const LINES = [
  [say('title', 'title')],
  [say('hidden', 'hidden')],
  [say('dim', 'dim')],
  [say('good', 'good')],
  [{ ...say('changed'), ground: 'added-word' as const }],
];

/** The screen after these lines were drawn with this number of colours. */
async function drawn(level: 0 | 1 | 2 | 3): Promise<Emulator> {
  const emulator = new Emulator(SIZE);
  const terminal = { stdin: fakeKeyboard().stream, stdout: fakeTerminal(emulator, SIZE).stream };
  const view = mount(<Lines lines={LINES} width={SIZE.columns} />, terminal, { level });
  await emulator.waitFor('the lines', () => emulator.text().includes('changed'));
  view.unmount();
  await view.over;
  return emulator;
}

test('NO_COLOR: a screen has bold, dim, underlined and inverse text, and no colour', async () => {
  const screen = await drawn(0);
  expect(common(screen.cellsOf('title'), 'bold')).toBe(true);
  expect(common(screen.cellsOf('hidden'), 'inverse')).toBe(true);
  expect(common(screen.cellsOf('dim'), 'dim')).toBe(true);
  expect(common(screen.cellsOf('changed'), 'underline')).toBe(true);
  expect([...screen.colours]).toEqual([]);
});

test('a screen has only colours that the terminal can show', async () => {
  const backgroundOf = async (level: 1 | 2 | 3) =>
    common((await drawn(level)).cellsOf('changed'), 'background');
  expect(await backgroundOf(1)).toBeNull();
  expect(await backgroundOf(2)).toBe(28);
  expect(await backgroundOf(3)).toBe(0x1a5e33);
});
