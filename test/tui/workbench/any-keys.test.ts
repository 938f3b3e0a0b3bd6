import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { helpLines } from '../../../src/tui/help.js';
import { WORKBENCH_KEYS } from '../../../src/tui/workbench/keys.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  EVENT,
  KEY,
  type Moment,
  OAUTH,
  RESULT,
} from '../../events/build.js';
import { words } from '../../support/words.js';
import { PATCH, settled } from './support/call-events.js';
import { openSession, withoutStyle } from './support/open-session.js';

const SIZES = [
  { columns: 40, rows: 8 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 30 },
  { columns: 200, rows: 60 },
] as const;
/** Inverse, also without colours. */
const CURSOR = '\u001b[7m';

/** What may happen meanwhile, in this order. */
const COMING: readonly (readonly Moment[])[] = [
  call(),
  acknowledged(),
  arrives(CHOICE),
  arrives(OAUTH, { leg: 'back-2' }),
  arrives({ ...EVENT, text: '漢字 👩‍💻\t\u202e'.repeat(40) }, { leg: 'back-3' }),
  arrives(
    {
      ...RESULT,
      text: 'x\n'.repeat(300),
      display_as: [{ type: 'diff', content: { path: 'a', patch: PATCH } }],
    },
    { leg: 'back-4' },
  ),
  at(90, [{ kind: 'warned', message: 'odd '.repeat(90), calls: [KEY] }]),
];
const KEYS = [
  ...[...'tcuOS?/nNjkgGhlwvzm[]{}12345brexaoUyYsV0 '],
  ...[
    '<enter>',
    '<escape>',
    '<tab>',
    '<shiftTab>',
    '<up>',
    '<down>',
    '<left>',
    '<right>',
    '<pageUp>',
    '<pageDown>',
  ],
  ...[
    '<home>',
    '<end>',
    '<backspace>',
    '<ctrl-r>',
    '<ctrl-o>',
    '<ctrl-d>',
    '<ctrl-u>',
    '漢👩‍💻e\u0301',
    'long '.repeat(60),
  ],
];
const doing = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const anySize = fc.oneof(
  fc.constantFrom(...SIZES),
  fc.record({ columns: fc.integer({ min: 20, max: 210 }), rows: fc.integer({ min: 2, max: 70 }) }),
);

describe('any keys and any events', () => {
  test('no frame is wider than the terminal or higher than one row less, and the focus is visible without colour', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(doing, anySize), { maxLength: 40 }), steps => {
        const session = openSession({ opened: ['b.ndjson'], level: 2 });
        const coming = COMING.values();
        for (const [key, size] of steps) {
          if (key === null) session.emit(coming.next().value ?? []);
          else session.press(key);
          session.clock.advance(70);
          const rows = session.draw(size);
          expect(rows.length).toBeLessThanOrEqual(size.rows - 1);
          expect(rows.filter(row => stringWidth(row) > size.columns)).toEqual([]);
          if (size.rows >= 8 && size.columns >= 40) expect(rows.some(isFocused)).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  test.each(SIZES.slice(0, 2))('the focus is visible in every place at $columns×$rows', size => {
    const places: readonly (readonly [string, RegExp])[] = [
      ['t', /^❯ {3}edit_file/m],
      ['<enter>', /^❯ path\*/m],
      ['<down>', /^❯ ▶ Run/m],
      ['<escape>', /^❯ {3}edit_file/m],
      ['c', /^❯ .*edit_file/m],
      ['<enter>', /❯ HUMAN/],
      ['<tab>', /❯ LLM/],
      ['m', /❯ LLM/],
      ['<tab>', /^❯ .*edit_file/m],
    ];
    const session = openSession();
    session.emit(settled);
    for (const [key, focused] of places) {
      session.press(key);
      expect(session.sees(size)).toMatch(focused);
    }
  });
});

const HELP = helpLines(WORKBENCH_KEYS.tables(), '', 80).map(words).join('\n');

/** The mark of a list, a field, a pane or a choice; a cursor; a page in front of the rest; nothing to be on. */
function isFocused(styled: string): boolean {
  const row = withoutStyle(styled);
  const isOfHelp = row.trim().length > 6 && HELP.includes(row.trim());
  return isOfHelp || styled.includes(CURSOR) || /❯ |Esc close|^No calls (yet|in)/.test(row);
}
