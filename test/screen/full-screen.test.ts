import fc from 'fast-check';
import { Text } from 'ink';
import { createElement } from 'react';
import { expect, test } from 'vitest';
import { say } from '../../src/render/line.js';
import { systemClock } from '../../src/system/clock.js';
import { fullScreen } from '../../src/tui/full-screen.js';
import type { Press } from '../../src/tui/keys.js';
import { EMPTY_SCREEN, reduceScreen, type ScreenState } from '../../src/tui/screen/state.js';
import { createStore } from '../../src/tui/store.js';
import { eventually } from '../e2e/support/eventually.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';

const SIZE = { columns: 80, rows: 24 };

/** A screen that shows how many keys were pressed. */
function open() {
  const emulator = new Emulator(SIZE);
  const keyboard = fakeKeyboard();
  const stdout = Object.assign(fakeTerminal(emulator, SIZE).stream, SIZE);
  const resize = (size: Size) => void Object.assign(stdout, size).emit('resize');
  const presses: Press[] = [];
  let pressed = '';
  const store = createStore(reduceScreen<never, ScreenState<never>>, EMPTY_SCREEN);
  const draw = () => createElement(Text, null, `first row\npressed: ${pressed}`);
  const screen = fullScreen(
    {
      store,
      layout: () => ({ header: [[say('first row')]] }),
      press(press) {
        const { name, text } = press;
        presses.push(press);
        pressed += name === 'ctrl+c' ? 'c' : text;
        store.dispatch({ type: 'changed' });
      },
      load: async () => draw,
    },
    { stdin: keyboard.stream, stdout, clock: systemClock, level: 0, background: 'dark' },
  );
  return { emulator, keyboard, screen, resize, presses, pressed: () => pressed };
}

test('the first lines are written at once', async () => {
  const { emulator, keyboard, screen } = open();
  expect(emulator.raw).toMatch(/first row$/);
  expect(keyboard.isRaw()).toBe(true);
  await screen.close();
});

test('keys typed before the listener is ready are handled, and leave no trace', async () => {
  const { emulator, keyboard, screen } = open();
  keyboard.type('abc');
  await emulator.waitFor('the keys', () => emulator.text().trim() === 'first row\npressed: abc');
  await screen.close();
});

test('closed before it listens, it restores the terminal', async () => {
  const { emulator, keyboard, screen } = open();
  await screen.close();
  await emulator.waitFor('the screen from before', () => !emulator.isAlternate);
  expect(emulator.isCursorVisible).toBe(true);
  expect(emulator.isReporting).toBe(false);
  expect(keyboard.isRaw()).toBe(false);
  expect(emulator.text()).toBe('');
});

test('pasted text is one press without a name; the wheel is a key', async () => {
  const { emulator, keyboard, screen, presses } = open();
  await emulator.waitFor('the modes', () => emulator.isReporting);
  keyboard.type('\u001b[200~q\rq\u001b[201~\u001b[<64;1;1M\u001b[<65;1;1M!');
  await eventually('the last key', () => presses.length === 4);
  expect(presses.slice(0, 3)).toEqual([
    { name: '', text: 'q\rq', isPaste: true },
    { name: 'wheelup', text: '' },
    { name: 'wheeldown', text: '' },
  ]);
  await screen.close();
});

test('a process that exits meanwhile restores the terminal', async () => {
  const before = process.listeners('exit');
  const { emulator, keyboard, screen } = open();
  for (const duty of process.listeners('exit')) if (!before.includes(duty)) duty(0);
  await emulator.waitFor('the screen from before', () => !emulator.isAlternate);
  expect(emulator.isCursorVisible).toBe(true);
  expect(emulator.isReporting).toBe(false);
  expect(keyboard.isRaw()).toBe(false);
  await screen.close();
});

test.each([
  { columns: 39, rows: 20 },
  { columns: 80, rows: 7 },
])('at $columns×$rows it asks for more room, accepts only keys that quit, and recovers', async size => {
  const { emulator, keyboard, screen, resize, pressed } = open();
  keyboard.type('a');
  await emulator.waitFor('the first key', () => emulator.text().includes('pressed: a'));
  resize(size);
  const words = `40×8 is needed, this is ${size.columns}×${size.rows}`;
  await emulator.waitFor('what it needs', () => emulator.text().trim() === words);
  keyboard.type('r');
  await new Promise(setImmediate);
  keyboard.type('\u0003');
  await eventually('the way out', () => pressed().length > 1);
  expect(pressed()).toBe('ac');
  resize(SIZE);
  await emulator.waitFor('the play', () => emulator.text().trim() === 'first row\npressed: ac');
  await screen.close();
});

const anyFinal = fc.stringMatching(/^[@-~]$/);

test('survives 10,000 random sequences', async () => {
  const { keyboard, screen, pressed } = open();
  const csi = fc
    .tuple(fc.constantFrom('[', '[[', '\u001b['), fc.stringMatching(/^[0-9:;<=>?]{0,8}$/), anyFinal)
    .map(parts => parts.join(''));
  const sequence = fc.oneof(
    csi,
    anyFinal.map(final => `O${final}`),
  );
  const sample = fc.sample(sequence, { numRuns: 10_000, seed: 23 });
  for (const each of sample) keyboard.type(`\u001b${each}`);
  keyboard.type('!');
  await eventually('the last key', () => pressed().endsWith('!'));
  await screen.close();
});
