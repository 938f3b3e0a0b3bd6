import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completed, TextInput } from '../../../src/tui/text-input.js';

const at = (marked: string) => new TextInput(marked.replace('|', ''), marked.indexOf('|'));

test.each([
  ['a|', ['abc'], 'abc|'],
  ['a|', ['abc', 'abd'], 'ab|'],
  ['a|', ['a', 'ab'], 'a|'],
  ['a|x', ['ab/'], 'ab/|x'],
  ['|', ['😀', '😁'], '|'],
  ['a|', [], 'a|'],
])('%s with %j is %s', (before, candidates, after) => {
  const { text, cursor } = completed(at(before), candidates);
  expect(`${text.slice(0, cursor)}|${text.slice(cursor)}`).toBe(after);
});

test('it goes as far as all of them do, and no further', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string(), { minLength: 1 }), (start, ends) => {
      const all = ends.map(end => start + end).sort();
      const { text } = completed(new TextInput(start), all);
      expect(all.filter(each => !each.startsWith(text))).toEqual([]);
      const next = all[0]?.charAt(text.length);
      if (next) expect(all.every(each => each.charAt(text.length) === next)).toBe(false);
    }),
  );
});
