import { describe, expect, test } from 'vitest';
import { readSequence } from '../../../src/tui/keys/use-keys.js';
import { nameOf } from '../../../src/tui/keys.js';

const nameIn = (sequence: string) => {
  const press = readSequence(sequence);
  return press && (nameOf(press) || press.input);
};

describe('a piece of terminal input', () => {
  test.each([
    ['\u001b[A', 'up'],
    ['\u001bOB', 'down'],
    ['\u001b[1;2C', 'right'],
    ['\u001b[1;5D', 'ctrl+left'],
    ['\u001b\u001b[A', 'meta+up'],
    ['\u001b[1;3A', 'meta+up'],
    ['\u001bOa', 'ctrl+up'],
    ['\u001b[b', 'down'],
    ['\u001b[H', 'home'],
    ['\u001b[4~', 'end'],
    ['\u001b[5~', 'pageup'],
    ['\u001b[6^', 'ctrl+pagedown'],
    ['\u001b[3~', 'erase'],
    ['\u001b[Z', 'shift+tab'],
    ['\u001b', 'escape'],
    ['\u001b\u001b', 'escape'],
    ['\u001bx', 'meta+x'],
    ['\u001bO', 'meta+O'],
    ['\u001b\r', 'meta+enter'],
    ['\u001b\u0003', 'ctrl+c'],
    ['\u001b[99;5u', 'ctrl+c'],
    ['\u001b[13u', 'enter'],
    ['\r', 'enter'],
    ['\t', 'tab'],
    ['\b', 'erase'],
    ['\u007f', 'erase'],
    ['\u0003', 'ctrl+c'],
    [' ', 'space'],
    ['G', 'G'],
    ['constructor', 'constructor'],
    ['zażółć', 'zażółć'],
  ])('%j is %s', (sequence, name) => {
    expect(nameIn(sequence)).toBe(name);
  });

  test.each([
    '\u001b[1;5I',
    '\u001b[1;5P',
    '\u001b[40;5~',
    '\u001b[31m',
    '\u001b[2~',
    '\u001bOP',
    '\u001b[',
    '\u001b[3',
    '\u001b[1;1:3A',
    '\u001b[57376u',
    '\u001b[9999999999u',
    '\u001b[200~',
  ])('%j is not a key of any screen', sequence => {
    expect(nameIn(sequence)).toBeNull();
  });
});
