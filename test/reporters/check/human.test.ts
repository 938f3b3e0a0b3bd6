import { describe, expect, test } from 'vitest';
import { REQUIREMENTS } from '../../../src/check/rules/all.js';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { LOOK, STORY, TOKEN } from './story-of.js';

const text = CHECK_FORMATS.human(STORY, LOOK);
const lines = text.split('\n');

describe.each([40, 60, 80])('on %i columns', width => {
  const rows = CHECK_FORMATS.human(STORY, { ...LOOK, width }).split('\n');
  const words = (of: string) => of.split(/\s+/);

  test('no row is wider, and none is empty that was not', () => {
    expect(rows.filter(row => row.length > width)).toEqual([]);
    expect(rows.filter(row => row === '')).toHaveLength(lines.filter(line => line === '').length);
  });

  test('no id of a rule is broken', () => {
    const isId = (word: string) => /^(?:TOOL|RT)-/.test(word);
    expect(words(rows.join('\n')).filter(isId)).toEqual(words(text).filter(isId));
  });

  test('what goes on stands below what it belongs to', () => {
    const at = rows.findIndex(row =>
      row.startsWith(`    to do     ${words(REQUIREMENTS['TOOL-ID'].advice)[0]}`),
    );
    expect(rows[at + 1]).toMatch(/^ {14}\S/);
  });
});

test('row 24: nothing foreign acts; no line of a workflow begins in it', () => {
  expect(unsafeIn(text)).toEqual([]);
  expect(lines.filter(line => line.trimStart().startsWith('::'))).toEqual([]);
});

test('row 25: the token of a callback URL is nowhere', () => {
  expect(text).not.toContain(TOKEN);
});
