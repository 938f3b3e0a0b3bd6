import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/system/clock.js';
import { fullScreen } from '../../src/tui/full-screen.js';
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
  let pressed = '';
  const screen = fullScreen(
    () => ({
      press({ name, text }) {
        pressed += name === 'ctrl+c' ? 'c' : text;
      },
      frame: () => ({ header: ['first row'], body: [`pressed: ${pressed}`], isRunning: false }),
    }),
    { stdin: keyboard.stream, stdout, clock: systemClock },
  );
  return { emulator, keyboard, screen, resize, pressed: () => pressed };
}

test('the first frame is written whole and at once', async () => {
  const { emulator, keyboard, screen } = open();
  expect(emulator.raw).toContain('first row\r\npressed: ');
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
  expect(keyboard.isRaw()).toBe(false);
  expect(emulator.text()).toBe('');
});

test('a process that exits meanwhile restores the terminal', async () => {
  const before = process.listeners('exit');
  const { emulator, keyboard, screen } = open();
  for (const duty of process.listeners('exit')) if (!before.includes(duty)) duty(0);
  await emulator.waitFor('the screen from before', () => !emulator.isAlternate);
  expect(emulator.isCursorVisible).toBe(true);
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

/** Sequences that Ink's own reader throws at, or passes on as text. */
const UNKNOWN = ['\u001b[1;5I', '\u001b[1;5P', '\u001b[40;5~', '\u001b[31m', '\u001b[?25h', '\u001bOx'];

test('ignores unknown sequences', async () => {
  const { emulator, keyboard, screen } = open();
  keyboard.type(UNKNOWN.map(sequence => `${sequence}a`).join(''));
  await emulator.waitFor('the keys', () => emulator.text().trim() === 'first row\npressed: aaaaaa');
  await screen.close();
});

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
