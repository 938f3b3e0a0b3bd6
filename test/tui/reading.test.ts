import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { type Line, quote, say } from '../../src/render/line.js';
import { createTheme, styleLine } from '../../src/render/terminal/theme.js';
import type { ReadingCommand } from '../../src/tui/reading/commands.js';
import { diffDocument } from '../../src/tui/reading/diff-document.js';
import { type Document, linesDocument } from '../../src/tui/reading/document.js';
import { growingDocument, joinedDocument } from '../../src/tui/reading/joined-document.js';
import type { Part, Sheet } from '../../src/tui/reading/parts.js';
import {
  EMPTY_READING,
  layOutSheet,
  readSheet,
  type SheetPlace,
  searchSheet,
  sheetSeen,
  visiblePart,
} from '../../src/tui/reading/sheet.js';
import { textDocument } from '../../src/tui/reading/text-document.js';
import type { Size } from '../../src/tui/tty.js';
import { anyCharacter } from '../support/characters.js';
import { diffOf, numbered, PLAIN } from './texts.js';

const SIZE = { columns: 40, rows: 5 };

const part = (document: Document | Part['document'], isStream = false): Part => ({
  title: [say('T')],
  document: look => (typeof document === 'function' ? document(look) : document),
  isStream,
});

/** A user who reads a sheet. */
function reading(sheetOf: () => Sheet, { focus = 0, level = 0 as 0 | 2, size: own = SIZE } = {}) {
  const theme = createTheme(level);
  let state = EMPTY_READING;
  let focused = focus;
  const placeOf = (size: Size): SheetPlace => ({
    name: 'call',
    sheet: sheetOf(),
    focus: focused,
    isZoomed: false,
    showsBytes: false,
    size,
    palette: theme.palette,
    highlighter: () => null,
  });
  const parts = (size: Size = own) => {
    state = sheetSeen(state, placeOf(size));
    return layOutSheet(state, placeOf(size)).slots.map(visiblePart);
  };
  const styled = (line: Line) => styleLine(line, theme);
  const keep = (read: ReturnType<typeof readSheet>) => {
    state = read.state;
    return read.said;
  };
  return {
    sees: (size?: Size) =>
      parts(size).flatMap(({ heading, status, rows }) => [
        styled([...heading, ...status]),
        ...rows.map(styled),
      ]),
    /** The rows of the text, without its heading. */
    reads: () => parts()[0]?.rows.map(styled) ?? [],
    status: () =>
      parts()[0]
        ?.status.map(({ text }) => text)
        .join(''),
    press: (...commands: readonly ReadingCommand[]) =>
      commands.map(command => keep(readSheet(state, placeOf(own), command))).at(-1),
    search: (words: string) => keep(searchSheet(state, placeOf(own), words)),
    to: (part: number) => {
      focused = part;
    },
  };
}

const read = (document: Document, options = {}) => reading(() => [part(document)], options);

describe('a text', () => {
  test.each<readonly [readonly ReadingCommand[], string]>([
    [['lineDown', 'lineDown', 'lineUp'], '2–5 of 5,000'],
    [['pageDown', 'pageDown', 'pageUp'], '3–6 of 5,000'],
    [['bottom', 'lineDown', 'pageUp'], '4,995–4,998 of 5,000'],
    [['bottom', 'top', 'lineUp'], '1–4 of 5,000'],
  ])('after %j is at %s', (commands, status) => {
    const { press, status: now } = read(textDocument(numbered(5_000)));
    press(...commands);
    expect(now()).toBe(status);
  });

  test('with a line longer than the screen is wrapped; unwrapped it scrolls sideways', () => {
    const { press, reads } = read(textDocument(`${'0123456789'.repeat(18)}\nend`));
    press('lineDown', 'lineDown');
    expect(reads().at(-1)).toBe('end');
    press('wrap');
    expect(reads().slice(0, 2)).toEqual([`${'0123456789'.repeat(4).slice(0, -1)}…`, 'end']);
    press('right');
    expect(reads()[0]).toMatch(/^890/);
  });
});

describe('a search', () => {
  test('wraps around at both ends; the match is visible without colour too', () => {
    const { search, press, reads } = read(textDocument(numbered(50)));
    expect(search('5')).toBe('match 1 of 6 on line 5');
    expect(reads().join('\n')).toContain('line \u001b[7m5\u001b[27m');
    expect(press('previousMatch')).toBe('from the bottom again: match 6 of 6 on line 50');
    expect(press('nextMatch')).toBe('from the top again: match 1 of 6 on line 5');
    search('line 33');
    expect(reads()[1]).toContain('line 33');
  });

  test.each([
    ['LINE', 'not found: "LINE"'],
    ['.*', 'not found: ".*"'],
    ['\\', 'not found: "\\"'],
    ['x\u001b[2J', 'not found: "x␛[2J"'],
    ['line 7\nline 8', 'match 1 of 1 on line 7'],
    ['', null],
  ])('for %j takes it literally, and ignores case unless it has capitals', (words, said) => {
    expect(read(textDocument(numbered(50))).search(words)).toBe(said);
  });

  test('shows a match far down a wrapped line, or far to the right', () => {
    for (const keys of [[], ['wrap']] as const) {
      const document = textDocument(`a\n${'word '.repeat(60)}needle ${'word '.repeat(60)}`);
      const { press, search, reads } = read(document);
      press(...keys);
      search('needle');
      expect(reads().join('\n')).toContain('\u001b[7mneedle\u001b[27m');
    }
  });

  test('marks neither the gutter nor a hidden character, and marks a match across several spans', () => {
    const hidden = read(linesDocument([[say('1 ', 'gutter'), ...quote('1\u200b200b')]]));
    hidden.search('1');
    expect(hidden.reads()[0]).toBe('1 \u001b[7m1\u001b[27m<U+200B>200b');
    expect(hidden.search('u+')).toBe('not found: "u+"');
    const changed = diffOf('--- x\n+++ x\n@@ -1 +1 @@\n-let a = 1;\n+let b = 1;\n');
    const code = read(diffDocument(changed, PLAIN), { level: 2 });
    code.search('t b =');
    const marked = code.reads()[3]?.split('\u001b[7m').slice(1) ?? [];
    expect(marked.map(piece => piece.split('\u001b[27m')[0]).join('')).toBe('t b =');
  });

  test('goes on in another part', () => {
    const parts = [part(textDocument('needle\nneedle\nhay')), part(textDocument('hay'))];
    const { search, to, press } = reading(() => parts, { focus: 1, size: { columns: 80, rows: 14 } });
    expect(search('needle')).toBe('not found: "needle"');
    to(0);
    expect(press('nextMatch')).toBe('match 1 of 2 on line 1');
  });
});

describe('a diff', () => {
  const hunk = (at: number) => `@@ -${at},3 +${at},3 @@\n a\n-b\n+c\n d\n`;
  const file = (name: string) => `--- ${name}\n+++ ${name}\n${hunk(1)}${hunk(11)}${hunk(21)}`;
  const document = diffDocument(diffOf(`${file('x')}${file('y')}`), PLAIN);

  test('keeps its headers while it is scrolled; keys go to hunks and files, which are counted', () => {
    const { press, reads, status } = read(document, { size: { columns: 60, rows: 7 } });
    press('lineDown', 'lineDown', 'lineDown');
    expect(reads().slice(0, 3)).toEqual(['x +3 −3', 'hunk 1/3 @@ -1,3 +1,3 @@', '    2 + c']);
    press('nextHunk');
    expect(status()).toBe('8–13 of 37 · hunk 2/3 · file 1/2');
    press('nextFile');
    expect(status()).toMatch(/file 2\/2$/);
    press('bottom');
    expect(status()).toMatch(/hunk 3\/3 · file 2\/2$/);
    expect(press('nextHunk', 'nextHunk', 'nextHunk')).toBe('no hunk further down');
  });

  const rowsOf = (sign: string, word: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${sign}${word} ${index}\n`).join('');
  const context = rowsOf(' ', 'same', 30);
  const changes = `${rowsOf('-', 'old', 60)}${rowsOf('+', 'new', 60)}`;
  const long = diffOf(`--- a\n+++ a\n@@ -1,120 +1,120 @@\n${context}${changes}${context}`);
  const both = (focus: number) =>
    reading(() => [part(look => diffDocument(long, look)), part(textDocument('done'))], {
      focus,
      size: { columns: 80, rows: 14 },
    });
  /** The first row that is old, as far as it is seen. */
  const topOld = (rows: readonly string[]) => /old \d+/.exec(rows.join('\n'))?.[0];

  test.each(['split', 'fold'] as const)('%s keeps the position', command => {
    const { press, search, sees } = both(0);
    search('old 40');
    press('lineDown');
    const top = topOld(sees());
    for (let times = 0; times < 2; times++) {
      expect(press(command)).toBeNull();
      expect(topOld(sees())).toBe(top);
    }
  });

  test('keeps the position in a terminal that is wide enough for two sides', () => {
    const { search, sees } = both(0);
    search('old 40');
    expect(sees({ columns: 300, rows: 14 }).join('\n')).toMatch(/old 40.*new 40/s);
  });

  test('keys for diffs apply to the diff, not to the text beside it', () => {
    const { press, sees } = both(1);
    expect(sees().join('\n')).toContain('unchanged lines');
    expect(press('fold')).toBeNull();
    expect(sees().join('\n')).not.toContain('unchanged lines');
    expect(read(document).press('fold')).toBe('nothing to unfold: the patch holds no more');
    expect(read(textDocument('a')).press('split')).toBe('this text is not a diff');
  });
});

test('new lines are followed if the end is visible', () => {
  let count = 5;
  const { reads, press } = reading(() => [part(textDocument(numbered(count)), true)]);
  const last = () => reads().at(-1);
  expect(reads()[0]).toBe('line 1');
  press('bottom');
  count = 100;
  expect(last()).toBe('line 100');
  press('lineUp');
  expect(last()).toBe('line 99');
  count = 200;
  expect(last()).toBe('line 99');
});

describe('a document that grows', () => {
  test('lays out its parts when they are read, and keeps only the latest layouts', () => {
    let laidOut = 0;
    const grown = growingDocument();
    for (let each = 0; each < 2_000; each++)
      grown.add(() => {
        laidOut++;
        return textDocument(`${each}`);
      });
    const read = (from: number, to: number) => {
      const before = laidOut;
      for (let line = from; line < to; line++) expect(grown.line(line)).toEqual(quote(`${line}`));
      return laidOut - before;
    };
    expect(read(1_900, 2_000)).toBeLessThanOrEqual(100);
    expect(read(1_900, 2_000)).toBe(0);
    expect(read(0, 2_000)).toBeGreaterThanOrEqual(1_600);
    expect(read(0, 100)).toBe(100);
  });
});

const COMMANDS: readonly ReadingCommand[] = [
  ...(['lineUp', 'lineDown', 'pageUp', 'pageDown', 'left', 'right', 'top', 'bottom', 'nextHunk'] as const),
  ...(['previousHunk', 'nextFile', 'previousFile', 'wrap', 'split', 'fold', 'nextMatch'] as const),
];
const hostile = fc.oneof(
  anyCharacter,
  fc.constantFrom('a', 'b ', '漢', '👩\u200d👩\u200d👧', '\t', '\u001b[31m', 'e\u0301\u0301', '🇩🇪', '\n'),
);
const texts = fc.array(hostile, { maxLength: 120 }).map(characters => characters.join(''));
const sizes = fc.record({
  columns: fc.integer({ min: 5, max: 60 }),
  rows: fc.integer({ min: 2, max: 12 }),
});

/** A file of changed rows, one for each line of the text. */
function patchOf(text: string, name: string): string {
  const rows = text.split('\n').map((line, index) => `${' +-'.charAt(index % 3)}${line}`);
  const count = (sign: string) => rows.filter(row => row.startsWith(' ') || row.startsWith(sign)).length;
  return `--- ${name}\n+++ ${name}\n@@ -1,${count('-')} +1,${count('+')} @@ ${name}\n${rows.join('\n')}\n`;
}

const sheetOf = (text: string, isDiff: boolean) => (): Sheet => {
  if (!isDiff) return [part(textDocument(text))];
  const diff = diffOf(`${patchOf(text, 'x')}${patchOf(text, 'y')}`);
  return [part(look => joinedDocument([diffDocument(diff, look), textDocument(text)]))];
};
const sheets = fc.tuple(texts, fc.boolean()).map(([text, isDiff]) => sheetOf(text, isDiff));

describe('any document', () => {
  test('no row is wider than the screen, no more rows than it has, and control characters are visible (threats, row 24)', () => {
    const keys = fc.array(fc.constantFrom(...COMMANDS), { maxLength: 8 });
    fc.assert(
      fc.property(sheets, sizes, keys, texts, (sheet, size, pressed, words) => {
        const { search, press, sees } = reading(sheet, { level: 2, size });
        search(words);
        press(...pressed);
        const rows = sees();
        expect(rows.length).toBeLessThanOrEqual(size.rows);
        for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(size.columns);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colour is taken out
        const bare = rows.join('').replaceAll(/\u001b\[[\d;]*m/g, '');
        expect(bare).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
        );
      }),
      { numRuns: 25, examples: [[sheetOf('漢', true), { columns: 5, rows: 3 }, ['split', 'bottom'], '']] },
    );
  });

  test('page up returns to the top from anywhere, page down to the bottom', () => {
    const downs = fc.array(fc.constantFrom('lineDown', 'pageDown'), { maxLength: 12 });
    const roomy = fc.record({ columns: fc.constant(60), rows: fc.integer({ min: 8, max: 12 }) });
    const many = (key: ReadingCommand) => Array.from({ length: 60 }, () => key);
    fc.assert(
      fc.property(sheets, roomy, downs, (sheetOf, size, pressed) => {
        const { press, sees } = reading(sheetOf, { size });
        const top = sees();
        press('bottom');
        const bottom = sees();
        press('top', ...pressed, ...many('pageDown'));
        expect(sees()).toEqual(bottom);
        press(...many('pageUp'));
        expect(sees()).toEqual(top);
      }),
      { numRuns: 10 },
    );
  });
});
