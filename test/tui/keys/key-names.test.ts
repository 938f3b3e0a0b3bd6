import { describe, expect, test } from 'vitest';
import { behindLine, lineTypedIn, nameOf, type Press, pressesIn, typedIn } from '../../../src/tui/keys.js';
import { pressed } from './pressed.js';

/** Text that arrived in one piece has no name. */
const keyOrText = (press: Press) => nameOf(press) || press.input;

describe('the name of a key', () => {
  test.each([
    ['j', pressed('j')],
    ['G', pressed('G')],
    ['space', pressed(' ')],
    ['up', pressed('', { upArrow: true })],
    ['enter', pressed('\r', { return: true })],
    ['escape', pressed('', { escape: true })],
    ['tab', pressed('', { tab: true })],
    ['shift+tab', pressed('', { tab: true, shift: true })],
    ['ctrl+c', pressed('c', { ctrl: true })],
    ['erase', pressed('', { delete: true })],
    ['erase', pressed('', { backspace: true })],
    ['', pressed('escape')],
  ])('is %s', (name, press) => {
    expect(nameOf(press)).toBe(name);
  });
});

describe('what arrives at once', () => {
  test('is as many keys as it has characters', () => {
    expect(pressesIn(pressed('jj\r?')).map(keyOrText)).toEqual(['j', 'j', 'enter', '?']);
  });

  test.each([
    ['watch\rjj', ['watch', 'enter'], 'jj'],
    ['watch\r\n', ['watch', 'enter'], ''],
    ['src/\tmain\nq', ['src/', 'tab', 'main', 'enter'], 'q'],
    ['a\u001bq', ['a', 'escape'], 'q'],
    ['\rj', ['enter'], 'j'],
    ['a\rj\u0003', ['a', 'enter', 'ctrl+c'], 'j'],
    ['ab', ['ab'], ''],
    ['a', ['a'], ''],
  ])(
    'stays together where a line is typed, and nothing behind its end is a key but Ctrl-C: %j',
    (input, keys, behind) => {
      expect(lineTypedIn(pressed(input)).map(keyOrText)).toEqual(keys);
      expect(behindLine(pressed(input))).toBe(behind);
    },
  );

  test('with Esc before it is not a letter', () => {
    expect(nameOf(pressed('x', { meta: true }))).toBe('meta+x');
    expect(nameOf(pressed('', { meta: true, escape: true }))).toBe('escape');
  });

  test('stays together where text is typed, but for an Enter at its end', () => {
    expect(typedIn(pressed('src/main.rs\r')).map(keyOrText)).toEqual(['src/main.rs', 'enter']);
    expect(typedIn(pressed('two\nlines\r')).map(keyOrText)).toEqual(['two\nlines\r']);
    expect(typedIn(pressed('\r', { return: true })).map(keyOrText)).toEqual(['enter']);
  });

  test('is keys and text where control characters come with it: Ctrl-C is never lost, and nothing is typed that is invalid', () => {
    expect(pressesIn(pressed('jj\u0003')).map(keyOrText)).toEqual(['j', 'j', 'ctrl+c']);
    expect(typedIn(pressed('12\u007f\u0012')).map(keyOrText)).toEqual(['12', 'erase', 'ctrl+r']);
    expect(typedIn(pressed('\b\u0015main\t')).map(keyOrText)).toEqual(['erase', 'ctrl+u', 'main', 'tab']);
  });
});
