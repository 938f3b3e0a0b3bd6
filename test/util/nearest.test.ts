import fc from 'fast-check';
import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../src/util/text.js';

const OPERATIONS = ['edit_file', 'deploy', 'list_instances', 'rate_limited'];

test.each([
  ['edit_fiel', ['edit_file']],
  ['EDIT_FILE', ['edit_file']],
  ['list', ['list_instances']],
  ['deploi', ['deploy']],
  ['qqqqqqqqq', []],
])('%s: %j', (word, names) => {
  expect(nearest(word, OPERATIONS)).toEqual(names);
});

test('nearest first, three at most', () => {
  expect(nearest('tool', ['tool_four', 'tools', 'tool', 'tool_1'])).toEqual(['tool', 'tools', 'tool_1']);
});

test('only candidates come back, whatever the word is', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (word, candidates) => {
      const found = nearest(word, candidates);
      expect(found.length).toBeLessThanOrEqual(3);
      for (const each of found) expect(candidates).toContain(each);
    }),
  );
});

test('a question for one name, for several, for none', () => {
  expect(didYouMean('deploi', OPERATIONS)).toBe('Did you mean "deploy"?');
  expect(didYouMean('aa', ['ab', 'ac'])).toBe('Did you mean "ab" or "ac"?');
  expect(didYouMean('qqqqqqqqq', OPERATIONS)).toBe('');
});
