import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { GREEN, LONG_ID, LOOK, STORY } from './story-of.js';

const text = CHECK_FORMATS.markdown(STORY, LOOK);

test('our own signs stand as they are', () => {
  expect(text).toContain('| ⚠️ warning |');
});
const rows = text.split('\n').filter(line => line.startsWith('| '));
/** Cells, as a reader parts a row; what is escaped as an entity parts nothing. */
const cellsOf = (row: string) => row.slice(2, -2).split(' | ');

test('a row for each rule and each case, all as wide as their heads', () => {
  expect(rows).toHaveLength(1 + 10 + 1 + 3);
  expect(rows.slice(0, 11).map(row => cellsOf(row).length)).toEqual(Array(11).fill(5));
  expect(rows.slice(11).map(row => cellsOf(row).length)).toEqual(Array(4).fill(4));
});

test('a row says what the rule asks, what came of it, and why', () => {
  const row = rows.find(each => each.startsWith('| TOOL-ID'));
  expect(cellsOf(row ?? '')).toEqual([
    'TOOL-ID',
    'MUST',
    'the tool sends id back unchanged',
    '❌ failed',
    `reason of TOOL-ID (edit_file · ${LONG_ID})`,
  ]);
  expect(text).toContain('➖ fails as expected | reason of TOOL-NOLEAK (known since March) |');
});

test('foreign text is nothing but text', () => {
  const row = rows.find(each => each.startsWith('| TOOL-FALLBACK')) ?? '';
  expect(row).toContain('evil&#124;&#60;b&#62;␊&#60;U+003A&#62;:error::100%, "x": &#96;y&#96;');
  expect(unsafeIn(text)).toEqual([]);
});

test('it begins with what it came to', () => {
  expect(CHECK_FORMATS.markdown(GREEN, LOOK).split('\n')[0]).toBe(
    '**passed** · http:&#47;/127.0.0.1:3001 · 4 rules: 4 passed (protocol-cli/test)',
  );
});

test('what is expected to fail, and could not, is told below', () => {
  expect(text).toContain(
    '\n- TOOL-CHOICE is expected to fail (known.yaml:3); it did not apply: nothing asked\n',
  );
});
