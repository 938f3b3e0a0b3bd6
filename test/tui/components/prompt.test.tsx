import { expect, test } from 'vitest';
import { Prompt } from '../../../src/tui/components/Prompt.js';
import { textInput } from '../../../src/tui/text-input.js';
import { rowsOf } from '../drawn.js';

const promptOf = (text: string, cursor = text.length, width = 20) =>
  rowsOf(<Prompt label="Open: " input={textInput(text, cursor)} width={width} />, width, 1).map(row =>
    row.replaceAll('\u001b', '␛'),
  );

test('a prompt has its label, its text, and the cursor', () => {
  expect(promptOf('run.ndjson', 3)).toEqual(['␛[1mOpen: ␛[22mrun␛[7m.␛[27mndjson']);
  expect(promptOf('')).toEqual(['␛[1mOpen: ␛[22m␛[7m ␛[27m']);
});

test('a long text is shown around the cursor, in one row', () => {
  const long = '0123456789'.repeat(10);
  expect(promptOf(long)).toEqual(['␛[1mOpen: ␛[22m␛[2m…␛[22m890123456789␛[7m ␛[27m']);
  expect(promptOf(long, 0)).toEqual(['␛[1mOpen: ␛[22m␛[7m0␛[27m123456789012…']);
});

test('of a prompt narrower than its label, the label is visible', () => {
  expect(rowsOf(<Prompt label="Open a server: " input={textInput('x')} width={8} />, 8)).toEqual([
    'Open a …',
  ]);
});
