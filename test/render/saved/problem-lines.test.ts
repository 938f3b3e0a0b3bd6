import { expect, test } from 'vitest';
import { problemLines } from '../../../src/render/saved-answers.js';
import { createTheme, wrapLine } from '../../../src/render/terminal/theme.js';
import { words } from '../../support/words.js';

test('where all is well there are none', () => {
  expect(problemLines([])).toEqual([]);
});

test('why there is no result comes first, then what there is to be warned of', () => {
  const failure = { message: 'no result', hint: 'Wait longer.', faults: ['$.a: is required'] };
  const warnings = [{ id: 'TOOL-ACK', message: 'slow' } as const, { message: '\u001b[2J' }];
  expect(problemLines(warnings, failure).map(words)).toEqual([
    'PROBLEMS',
    '✗ no result',
    '    $.a: is required',
    '  Wait longer.',
    '! slow [TOOL-ACK]',
    '! ␛[2J',
  ]);
});

test('rows that follow stand below the first word', () => {
  const [, line = []] = problemLines([{ message: 'one two three four five six' }], null, 'FAULTS');
  expect(wrapLine(line, 22, createTheme(0))).toEqual(['! one two three four ', '  five six']);
});
