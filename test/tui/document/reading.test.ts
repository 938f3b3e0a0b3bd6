import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createTheme } from '../../../src/render/terminal/theme.js';
import {
  type Document,
  diffDocument,
  joinedDocument,
  textDocument,
} from '../../../src/tui/document/documents.js';
import { DocumentView, FIRST_READING, type ReadingCommand } from '../../../src/tui/document/view.js';
import { anyCharacter } from '../../support/characters.js';
import { diffOf, readAfter, viewOf } from './support.js';

const OPPOSITE = { lineDown: 'lineUp', pageDown: 'pageUp' } as const;
const downs = fc.array(fc.constantFrom('lineDown', 'pageDown'), { maxLength: 12 });
const commands = fc.array(
  fc.constantFrom<ReadingCommand>(
    'lineUp',
    'lineDown',
    'pageUp',
    'pageDown',
    'left',
    'right',
    'top',
    'bottom',
    'nextHunk',
    'previousHunk',
    'nextFile',
    'previousFile',
    'wrap',
    'split',
    'fold',
    'nextMatch',
    'previousMatch',
  ),
  { maxLength: 8 },
);
const hostile = fc.oneof(
  anyCharacter,
  fc.constantFrom(
    'a',
    'b ',
    '漢',
    '👩\u200d👩\u200d👧',
    '\t',
    '\u001b[31m',
    'e\u0301\u0301',
    '🇩🇪',
    '\u001b]0;x\u0007',
    '\n',
  ),
);
const texts = fc.array(hostile, { maxLength: 120 }).map(characters => characters.join(''));
const viewports = fc.record({
  width: fc.integer({ min: 5, max: 60 }),
  height: fc.integer({ min: 1, max: 12 }),
});
const roomy = fc.record({ width: fc.integer({ min: 30, max: 60 }), height: fc.integer({ min: 8, max: 12 }) });

/** A file of changed rows, one for each line of the text. */
function patchOf(text: string, name: string): string {
  const rows = text.split('\n').map((line, index) => `${' +-'.charAt(index % 3)}${line}`);
  const count = (sign: string) => rows.filter(row => row.startsWith(' ') || row.startsWith(sign)).length;
  return `--- ${name}\n+++ ${name}\n@@ -1,${count('-')} +1,${count('+')} @@ ${name}\n${rows.join('\n')}\n`;
}

const documents: fc.Arbitrary<Document> = fc
  .record({ text: texts, isDiff: fc.boolean(), isSplit: fc.boolean(), isUnfolded: fc.boolean() })
  .map(({ text, isDiff, ...look }) => {
    const document = textDocument(text);
    if (!isDiff) return document;
    const diff = diffOf(`${patchOf(text, 'x')}${patchOf(text, 'y')}`);
    return joinedDocument([diffDocument(diff, { ...look, highlighter: null }), document]);
  });

describe('whatever is read', () => {
  test('no row is wider than the screen, no more rows than it has, and nothing acts (threats, row 24)', () => {
    const coloured = createTheme(2);
    fc.assert(
      fc.property(
        documents,
        viewports,
        commands,
        texts,
        fc.boolean(),
        (document, viewport, keys, words, isWrapped) => {
          const view = new DocumentView(document, viewport, coloured);
          let { reading } = view.search({ ...FIRST_READING, isWrapped }, words);
          for (const key of keys) reading = view.step(reading, key).reading;
          const { rows, status } = view.draw(reading);
          expect(rows.length).toBeLessThanOrEqual(viewport.height);
          for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(viewport.width);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colour is taken out
          const bare = rows.join('').replaceAll(/\u001b\[[\d;]*m/g, '');
          expect(bare).not.toMatch(
            /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
          );
          expect(status).toMatch(/^[\d,]+–[\d,]+ of [\d,]+( · (hunk|file) [\d,]+\/[\d,]+)*$/);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('down and the same way up ends where it began', () => {
    fc.assert(
      fc.property(documents, viewports, downs, (document, viewport, keys) => {
        const down = readAfter(document, viewport, keys);
        const end = readAfter(document, viewport, ['bottom']);
        const isAtEnd = down.line === end.line && down.row === end.row;
        const ups = keys.toReversed().map(key => OPPOSITE[key]);
        const { line, row } = readAfter(document, viewport, isAtEnd ? ['top'] : ups, down);
        expect({ line, row }).toEqual({ line: 0, row: 0 });
      }),
    );
  });

  test('any way down, enough pages up are the top, and enough down the bottom', () => {
    fc.assert(
      fc.property(documents, roomy, downs, (document, viewport, keys) => {
        const many = <Key extends ReadingCommand>(key: Key) => Array.from({ length: 60 }, () => key);
        const down = readAfter(document, viewport, keys);
        expect(readAfter(document, viewport, many('pageUp'), down)).toMatchObject({ line: 0, row: 0 });
        expect(readAfter(document, viewport, many('pageDown'), down)).toEqual(
          readAfter(document, viewport, ['bottom']),
        );
      }),
      { numRuns: 10 },
    );
  });

  test('paging shows every line', () => {
    const paged = fc.record({
      width: fc.integer({ min: 20, max: 60 }),
      height: fc.integer({ min: 3, max: 12 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), paged, fc.boolean(), (count, viewport, isSplit) => {
        const text = Array.from({ length: count }, (_, index) => `<${index}>`).join('\n');
        const diff = diffOf(`${patchOf(text, 'x')}${patchOf(text, 'y')}`);
        const document = diffDocument(diff, { isSplit, isUnfolded: true, highlighter: null });
        const seen = new Set<string>();
        const view = viewOf(document, viewport);
        let reading = FIRST_READING;
        for (let page = 0; page < document.length; page++) {
          for (const row of view.draw(reading).rows) seen.add(row.trimEnd());
          reading = view.step(reading, 'pageDown').reading;
        }
        const whole = viewOf(document, { ...viewport, height: 10_000 }).draw(FIRST_READING).rows;
        expect(whole.filter(row => !seen.has(row.trimEnd()))).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
