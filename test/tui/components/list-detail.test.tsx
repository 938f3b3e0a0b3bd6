import { expect, test } from 'vitest';
import { ListDetail } from '../../../src/tui/components/ListDetail.js';
import { initialList, type List, type ListState } from '../../../src/tui/list/list.js';
import { rowsOf } from '../drawn.js';
import { type WordTab, wordList } from '../list/words.js';

const WORDS = wordList(['apple', 'pear', 'plum']);

function drawn(
  list: List<string, WordTab>,
  change: Partial<ListState<WordTab>>,
  { columns = 40, rows = 14, hasEdge = true } = {},
): readonly string[] {
  const state = { ...initialList(list), ...change };
  const node = (
    <ListDetail listed={{ list, state }} size={{ columns, rows }} hasEdge={hasEdge} onSeen={() => {}} />
  );
  return rowsOf(node, columns).map(row => row.trimEnd());
}

test('the selected entry is below the list', () => {
  expect(drawn(WORDS, { selected: 'pear', tab: 'about' })).toEqual([
    '── Words 2/3 ───────────────────────────',
    '  WORD',
    '  apple',
    '❯ pear',
    '  plum',
    '── the word pear ───────────────────────',
    ' 1 Text  [2 About]',
    `  ABOUT${'1–1 of 1'.padStart(33)}`,
    '4 letters',
    ...Array(6).fill(''),
  ]);
});

test('in a wide terminal it is beside the list', () => {
  expect(drawn(WORDS, { tab: 'about' }, { columns: 100, rows: 4 })).toEqual([
    `── Words 3/3 ────────────────────────────┬── the word plum ${'─'.repeat(41)}`,
    '  WORD                                   │  1 Text  [2 About]',
    `  apple                                  │   ABOUT${'1–1 of 1'.padStart(50)}`,
    '  pear                                   │ 4 letters',
    '❯ plum                                   │',
  ]);
});

test('while it is read, it has the whole room', () => {
  const rows = drawn(WORDS, { focus: 0 });
  expect(rows[0]).toBe('── the word plum ───────────────────────');
  expect(rows[2]).toMatch(/^❯ LINES .* of 50$/);
  expect(rows.join('\n')).not.toContain('pear');
});

test('the selected row is a bar, unless the entry beside it is read', () => {
  const size = { columns: 100, rows: 4 };
  const hasBar = (focus: 'list' | number) => {
    const listed = { list: WORDS, state: { ...initialList(WORDS), focus } };
    const rows = rowsOf(<ListDetail listed={listed} size={size} hasEdge onSeen={() => {}} />, 100, 1);
    return rows.some(row => row.includes('\u001b[7m❯ plum'));
  };
  expect([hasBar('list'), hasBar(0)]).toEqual([true, false]);
});

test('of a long list the rows around the selected one are visible', () => {
  const words = Array.from({ length: 99 }, (_, index) => `word_${index}`);
  expect(drawn(wordList(words), { selected: 'word_50' }).slice(0, 7)).toEqual([
    '── Words 51/99 ─────────────────────────',
    '  WORD',
    '  word_48',
    '  word_49',
    '❯ word_50',
    '  word_51',
    '  word_52',
  ]);
});

test('an empty list says so, and has no details', () => {
  expect(drawn(wordList([]), {}, { rows: 3 }).filter(row => row !== '')).toEqual([
    '── Words ───────────────────────────────',
    'No words yet.',
  ]);
});

test('a selected entry that is missing is reported', () => {
  const rows = drawn({ ...WORDS, missing: 'It is gone.' }, { selected: 'fig' });
  expect(rows).toContain('It is gone.');
});

test('a marked tab has a sign', () => {
  expect(drawn({ ...WORDS, isMarked: (_, tab) => tab === 'about' }, {})).toContain('[1 Text]  2 About !');
});

test('without an edge, only the details have a title', () => {
  const rows = drawn(WORDS, {}, { hasEdge: false });
  expect(rows.slice(0, 2)).toEqual(['  WORD', '  apple']);
  expect(rows[4]).toBe('── the word plum ───────────────────────');
});
