import { describe, expect, test } from 'vitest';
import { stepPrompt, TextInput } from '../../../src/tui/text-input.js';
import { pressed } from '../keys/pressed.js';

const at = (marked: string) => new TextInput(marked.replace('|', ''), marked.indexOf('|'));

describe('a line that is typed', () => {
  test.each([
    ['ab|', pressed('c'), 'abc|'],
    ['a|b', pressed('xyz'), 'axyz|b'],
    ['a|b', pressed('', { delete: true }), '|b'],
    ['|b', pressed('', { delete: true }), '|b'],
    ['a😀|', pressed('', { backspace: true }), 'a|'],
    ['a😀|', pressed('', { leftArrow: true }), 'a|😀'],
    ['a|😀', pressed('', { rightArrow: true }), 'a😀|'],
    ['ab|', pressed('', { rightArrow: true }), 'ab|'],
    ['a|b', pressed('', { home: true }), '|ab'],
    ['a|b', pressed('', { end: true }), 'ab|'],
    ['a b|c', pressed('u', { ctrl: true }), '|c'],
    ['one two |x', pressed('w', { ctrl: true }), 'one |x'],
    ['a|', pressed('x', { ctrl: true }), 'a|'],
    ['a|', pressed('two\nlines\u001b'), 'atwolines|'],
  ])('%s', (before, press, after) => {
    const { text, cursor } = stepPrompt(at(before), press);
    expect(`${text.slice(0, cursor)}|${text.slice(cursor)}`).toBe(after);
  });
});
