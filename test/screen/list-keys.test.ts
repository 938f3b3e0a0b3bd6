import type { Key } from 'ink';
import { expect, test } from 'vitest';
import { BINDINGS, commandOf, commandsOf } from '../../src/tui/list.js';

const none = {} as Key;
const pressed = (name: keyof Key) => ({ [name]: true }) as unknown as Key;

test.each([
  ['j', 'down'],
  ['k', 'up'],
  ['g', 'first'],
  ['G', 'follow'],
  [' ', 'pageDown'],
  ['?', 'help'],
  ['q', 'quit'],
  ['x', undefined],
  ['P', undefined],
  ['', undefined],
  ['qq', undefined],
])('%j means %s', (input, command) => {
  expect(commandOf(input, none)).toBe(command);
});

test.each([
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['home', 'first'],
  ['end', 'follow'],
  ['return', 'details'],
  ['tab', 'details'],
  ['pageUp', 'pageUp'],
  ['pageDown', 'pageDown'],
  ['escape', 'help'],
] as const)('the key %s means %s', (key, command) => {
  expect(commandOf('', pressed(key))).toBe(command);
});

test('with Ctrl there is one: Ctrl-C', () => {
  expect(commandOf('c', pressed('ctrl'))).toBe('quit');
  expect(commandOf('p', pressed('ctrl'))).toBeUndefined();
});

test('every command has a key and a word about it', () => {
  for (const { characters, keys, label, does } of BINDINGS)
    expect([characters.length + keys.length > 0, label.length > 0, does.length > 0]).toEqual([
      true,
      true,
      true,
    ]);
});

test.each([
  ['jj', ['down', 'down']],
  ['jxq', ['down', 'quit']],
  ['j', ['down']],
  ['', []],
])('%j at once means each of its characters', (input, commands) => {
  expect(commandsOf(input, none)).toEqual(commands);
});
