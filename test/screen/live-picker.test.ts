import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PickerCommand } from '../../src/tui/live/frame.js';
import { openPicker, stepPicker } from '../../src/tui/live/frame.js';
import { question } from './support/scenes.js';

const LABELS = Array.from({ length: 15 }, (_, index) => `choice ${index}`);
const COMMANDS: readonly PickerCommand[] = ['up', 'down', 'first', 'last', 'pick', 'dismiss', '0', '1', '9'];
const after = (choices: readonly string[], preset: number, ...commands: readonly PickerCommand[]) =>
  commands.reduce(stepPicker, openPicker(question('Which?', choices, preset))).selected;

test('the default is selected at first', () => {
  expect(after(LABELS, 7)).toBe(7);
});

test.each([
  [['up'], 3],
  [['down'], 5],
  [['first'], 0],
  [['first', 'up'], 0],
  [['last'], 14],
  [['last', 'down'], 14],
  [['pick'], 4],
  [['dismiss'], 4],
] as const)('%j leads from 4 to %i', (commands, selected) => {
  expect(after(LABELS, 4, ...commands)).toBe(selected);
});

test.each([
  [['2'], 2],
  [['1', '2'], 12],
  [['1', '9'], 9], // there is no 19
  [['1', '2', '3'], 3],
  [['1', 'down', '2'], 2],
  [['0', '7'], 7],
] as const)('the digits %j select %i', (commands, selected) => {
  expect(after(LABELS, 4, ...commands)).toBe(selected);
});

test('a digit that is no index changes nothing', () => {
  expect(after(['a', 'b', 'c'], 1, '7')).toBe(1);
});

test('whatever is pressed, one of the choices is selected', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 120 }),
      fc.array(fc.constantFrom(...COMMANDS)),
      (count, commands) => {
        const choices = Array.from({ length: count }, () => 'choice');
        const selected = after(choices, count - 1, ...commands);
        expect(selected >= 0 && selected < count).toBe(true);
      },
    ),
  );
});
