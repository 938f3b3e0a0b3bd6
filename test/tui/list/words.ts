import { quote, say } from '../../../src/render/line.js';
import { cursorMark } from '../../../src/tui/layout.js';
import type { List } from '../../../src/tui/list/list.js';
import { onePart } from '../../../src/tui/reading/parts.js';
import { textDocument } from '../../../src/tui/reading/text-document.js';
import { numbered } from '../texts.js';

export type WordTab = 'text' | 'about';

/** A list of words. The first tab has two parts: fifty lines, and the word. */
export function wordList(
  keys: readonly string[],
  change: Partial<List<string, WordTab>> = {},
): List<string, WordTab> {
  return {
    title: 'Words',
    tabs: [
      { name: 'text', title: 'Text' },
      { name: 'about', title: 'About' },
    ],
    wide: 100,
    share: 0.4,
    entries: () => ({ keys, get: key => (keys.includes(key) ? key : undefined) }),
    titleOf: word => `the word ${word}`,
    textOf: word => [word],
    hasHead: true,
    table: (words, selected) => ({
      head: [say('  WORD', 'dim')],
      rows: words.map((word, index) => [cursorMark(index === selected), ...quote(word)]),
      isRunning: false,
    }),
    sheetOf: (word, tab) =>
      tab === 'about'
        ? onePart([say('ABOUT')], [quote(`${word.length} letters`)])
        : [
            { title: [say('LINES')], document: () => textDocument(numbered(50)) },
            { title: [say('WORD')], document: () => textDocument(word) },
          ],
    empty: () => [[say('No words yet.')]],
    highlighter: () => null,
    ...change,
  };
}
