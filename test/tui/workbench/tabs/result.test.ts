import { describe, expect, test } from 'vitest';
import type { CallLog } from '../../../../src/events/history.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  KEY,
  resultArrives,
  timedOut,
} from '../../../events/build.js';
import { words } from '../../../support/words.js';
import { read } from '../../read-sheet.js';
import { bookOf, LOOK, sheetsFor } from './look-at.js';

const PATCH = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n';

const DIFF = { display_as: [{ type: 'diff', content: { path: 'x', patch: PATCH } }] };

test('of a pending call, the steps so far', () => {
  const book = bookOf(call(), at(4, acknowledged()));
  expect(read(sheetsFor().sheetOf('result', book, KEY, LOOK))).toEqual([
    [
      'PENDING the steps so far',
      '✓ sent edit_file to http://127.0.0.1:3001/invoke',
      '✓ acknowledged with 200 after 4ms',
      '… waiting for the result',
    ],
  ]);
});

test('RT-CHOICE: what the tool asks stands there line by line, the default choice marked', () => {
  const question = {
    ...CHOICE,
    prompt: 'Where to?\nIt cannot be undone.\u001b[2J',
    choices: ['a\nb', 'production'],
    default: 1,
  };
  const book = bookOf(call(), acknowledged(), arrives(question));
  const asked = [
    'the tool asks: Where to?',
    '  It cannot be undone.␛[2J',
    '  0 a␊b',
    '  1 production (default)',
  ];
  expect(read(sheetsFor().sheetOf('result', book, KEY, LOOK))[0]?.slice(3)).toEqual([
    `• ${asked[0]}`,
    ...asked.slice(1),
    '… waiting for you',
  ]);
  expect(read(sheetsFor().sheetOf('timeline', book, KEY, LOOK))[0]?.join('\n')).toContain(
    asked.join(`\n${' '.repeat(11)}`),
  );
});

test('RT-DISPLAY, RT-TEXT: what the human sees beside what the LLM gets', () => {
  const book = bookOf(call(), resultArrives(DIFF));
  const { parts } = sheetsFor().sheetOf('result', book, KEY, LOOK);
  expect(parts.map(({ pane }) => pane?.title)).toEqual(['human', 'llm']);
  const [human = [], llm] = read({ parts });
  expect(human[0]).toBe('HUMAN display_as[0] diff (the first segment)');
  expect(human.join('\n')).toMatch(/old[\s\S]*new/);
  expect(llm).toEqual(['LLM text, 4 bytes', 'done']);
});

test('a call that came to nothing says so', () => {
  const book = bookOf(call(), timedOut(2_000));
  const [human] = read(sheetsFor().sheetOf('result', book, KEY, LOOK));
  expect(human).toEqual(['HUMAN no result from the tool', 'timed out after 2s']);
});

test('it stays the same one while nothing of it changes, and follows what does', () => {
  const sheets = sheetsFor();
  const book = bookOf(call());
  const later = eventsOf(call(), acknowledged(), resultArrives(DIFF));
  const sheet = (look = LOOK) => sheets.sheetOf('result', book, KEY, look);
  const pending = sheet();
  expect(sheet()).toBe(pending);
  for (const event of later.slice(1)) book.apply(event);
  const settled = sheet();
  expect(settled.parts).toHaveLength(2);
  expect(sheet()).toBe(settled);
  const unfolded = sheet({ ...LOOK, isUnfolded: true });
  expect(unfolded).not.toBe(settled);
  expect(unfolded.parts[1]).toBe(settled.parts[1]);
});

describe('RT-SUB: a call that subscribed', () => {
  const subscribed = [...call(), ...at(5, resultArrives({ subscription: true }))];
  const event = (leg: string, fields: object = {}) => arrives({ ...EVENT, ...fields }, { leg });
  const events = [
    ...at(1_205, event('e1')),
    ...at(2_205, event('e2', { text: 'two\nlines', associative: true })),
    ...at(3_205, event('e3', { text: 'bye', final: true })),
  ];
  const sheetOf = (book: CallLog) => sheetsFor().sheetOf('result', book, KEY, LOOK);

  test('has its events below the result: as they are asked to the human, and whole for the LLM', () => {
    expect(read(sheetOf(bookOf(subscribed, events)))).toEqual([
      [
        'HUMAN text (no display_as), 3 events',
        'done',
        '',
        '• event 1 → child thread: opened after 1.2s',
        '• event 2 → this thread (associative): two␊lines after 2.2s',
        '• last event 3 → child thread: bye after 3.2s',
      ],
      [
        'LLM text, 4 bytes, 3 events',
        'done',
        '',
        '• event 1 → child thread after 1.2s',
        'opened',
        '• event 2 → this thread (associative) after 2.2s',
        'two',
        'lines',
        '• last event 3 → child thread after 3.2s',
        'bye',
      ],
    ]);
  });

  test('says that none has come yet, and only counts those that count', () => {
    const ignored = event('e1', { tool_call_id: 'another' });
    const [human = []] = read(sheetOf(bookOf(subscribed, ignored)));
    expect(human).toEqual(['HUMAN text (no display_as), 0 events so far', 'done']);
  });

  test('is passed on as they come: what was there stays', () => {
    const book = bookOf(subscribed);
    const sheets = sheetsFor();
    const sheet = () => sheets.sheetOf('result', book, KEY, LOOK);
    expect(sheet()).toBe(sheet());
    const lengths = [1, 2, 3].map(number => {
      for (const each of eventsOf(event(`e${number}`))) book.apply(each);
      return sheet().parts.map(({ document }) => document.length);
    });
    expect(lengths).toEqual([
      [3, 4],
      [4, 6],
      [5, 8],
    ]);
  });

  test('has all of ten thousand, though the exchange itself forgets', () => {
    const count = 10_000;
    const many = Array.from({ length: count }, (_, index) => event(`e${index}`, { text: `<${index}>` }));
    const { parts } = sheetOf(bookOf(subscribed, many.flat()));
    const [human, llm] = parts;
    expect(words(human?.document.line(human.document.length - 1) ?? [])).toContain(
      'event 10000 → child thread: <9999>',
    );
    expect(words(llm?.document.line(2 * 5_000 + 1) ?? [])).toBe('<4999>');
    expect(llm?.document.find(/<7777>/u, 0, 1)).toBe(2 * 7_778 + 1);
    expect(llm?.document.find(/<7777>/u, llm.document.length - 1, -1)).toBe(2 * 7_778 + 1);
  });
});

test('of a call that no one knows there is nothing', () => {
  expect(sheetsFor().sheetOf('result', bookOf(), KEY, LOOK)).toEqual({ parts: [] });
});
