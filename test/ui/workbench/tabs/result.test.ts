import { expect, test } from 'vitest';
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
} from '../../../exchange/build.js';
import { bookOf, LOOK, read, sheetsFor } from './look-at.js';

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
  expect(human).toEqual(['HUMAN no result from the tool', 'no result within 2s']);
});

test('it stays the same one while nothing of it changes, and follows what does', () => {
  const sheets = sheetsFor();
  const book = bookOf(call());
  const later = eventsOf(call(), acknowledged(), resultArrives({ ...DIFF, subscription: true }));
  const sheet = (look = LOOK) => sheets.sheetOf('result', book, KEY, look);
  const pending = sheet();
  expect(sheet()).toBe(pending);
  for (const event of later.slice(1)) book.apply(event);
  const settled = sheet();
  expect(settled.parts).toHaveLength(2);
  for (const event of eventsOf(arrives(EVENT, { leg: 'e1' }))) book.apply(event);
  expect(sheet()).toBe(settled);
  const unfolded = sheet({ ...LOOK, isUnfolded: true });
  expect(unfolded).not.toBe(settled);
  expect(unfolded.parts[1]).toBe(settled.parts[1]);
});

test('of a call that nobody knows there is nothing', () => {
  expect(sheetsFor().sheetOf('result', bookOf(), KEY, LOOK)).toEqual({ parts: [] });
});
