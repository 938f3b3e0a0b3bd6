import type { Key } from 'ink';
import { expect, test } from 'vitest';
import { commandsOf } from '../../src/tui/live/frame.js';

const none = {} as Key;
const pressed = (...names: (keyof Key)[]) =>
  Object.fromEntries(names.map(name => [name, true])) as unknown as Key;

test.each([
  ['j', ['down']],
  ['k', ['up']],
  ['o', ['open']],
  ['0', ['0']],
  ['12', ['1', '2']],
  ['jj\r', ['down', 'down', 'pick']],
  ['\u0003', ['interrupt']],
  ['1\u0003', ['1', 'interrupt']],
  ['O', []],
  ['x', []],
  ['', []],
])('%j means %j', (input, commands) => {
  expect(commandsOf(input, none)).toEqual(commands);
});

test.each([
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['home', 'first'],
  ['end', 'last'],
  ['return', 'pick'],
] as const)('the key %s means %s', (key, command) => {
  expect(commandsOf('', pressed(key))).toEqual([command]);
});

test('Escape dismisses, though Ink says of it that it is Alt as well', () => {
  expect(commandsOf('', pressed('escape', 'meta'))).toEqual(['dismiss']);
});

test('with Alt there is none, and with Ctrl one: Ctrl-C', () => {
  expect(commandsOf('o', pressed('meta'))).toEqual([]);
  expect(commandsOf('j', pressed('ctrl'))).toEqual([]);
  expect(commandsOf('c', pressed('ctrl'))).toEqual(['interrupt']);
});
