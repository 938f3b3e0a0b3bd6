import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../src/check/rules/all.js';
import { suggestRequirement } from '../../src/protocol/requirements.js';

test.each([
  ['TOOL-AKC', 'Did you mean "TOOL-ACK"?'],
  ['tool-retyr', 'Did you mean "TOOL-RETRY"?'],
  ['TOOL-ERR', 'Did you mean "TOOL-ERRPREFIX"?'],
  ['ack', 'Did you mean "TOOL-ACK"?'],
  ['RT-ACK', 'Did you mean "TOOL-ACK"?'],
  ['retry', 'Did you mean "TOOL-RETRY" or "RT-RETRY"?'],
  ['toolset', 'Did you mean "RT-TOOLSET"?'],
  ['TOOL-SUBS', 'Did you mean "TOOL-SUB"?'],
])('%s: %s', (word, words) => {
  expect(suggestRequirement(word)).toBe(words);
});

test.each(['TOOL-FOO', 'TOOL-XYZ', 'TOOL-NOPE', 'TOOL-', 'RT-', '', 'x', '__proto__'])(
  'for %j no stranger is offered, but what lists them all',
  word => {
    expect(suggestRequirement(word)).toBe('`protocol-cli check --list` shows them all.');
  },
);

test('what is one letter off is found, whichever rule it is', () => {
  for (const id of Object.keys(REQUIREMENTS)) expect(suggestRequirement(`${id}x`)).toContain(`"${id}"`);
});
