import { expect, test } from 'vitest';
import {
  acknowledged,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  chose,
  eventsOf,
  KEY,
  lost,
  resultArrives,
  VIEW,
} from '../../../events/build.js';
import { read } from '../../read-sheet.js';
import { bookOf, LOOK, sheetsFor } from './look-at.js';

test('what a pending call waits for stands at the end, and nowhere else', () => {
  const book = bookOf(call(), lost(), at(9, call({ attempt: 2 })));
  const sheets = sheetsFor();
  const lines = () => read(sheets.sheetOf('timeline', book, KEY, LOOK)).flat();
  expect(lines().at(-1)).toMatch(/… waiting for the acknowledgement$/);
  const later = eventsOf(call(), acknowledged(), arrives(CHOICE), chose(1), resultArrives({}, { leg: 'b2' }));
  for (const event of later.slice(1)) book.apply(event);
  expect(lines().filter(line => line.includes('waiting'))).toEqual([]);
  expect(lines()).toContainEqual(expect.stringMatching(/decided choice 1 by a flag$/));
});

test('with bytes, each message below its event, and the same lines else', () => {
  const sheets = sheetsFor();
  const book = bookOf(call(), acknowledged(), bytesArrive(new Uint8Array([0xff])));
  const lines = (showsBytes: boolean) =>
    read(sheets.sheetOf('timeline', book, KEY, { ...LOOK, showsBytes })).flat();
  const bytes = lines(true).filter(line => line.includes('│'));
  expect(bytes).toEqual([
    expect.stringMatching(/^ {11}│ \{"operation":"edit_file",/),
    expect.stringMatching(/^ {11}│ 0000 {2}ff /),
  ]);
  expect(lines(true).filter(line => !line.includes('│'))).toEqual(lines(false));
});

test('what a call forgets is reported all the same', () => {
  const note = 'x'.repeat(2 * 1024 * 1024);
  const large = { ...VIEW, view_type: 'note', content: { note } };
  const views = Array.from({ length: 10 }, (_, index) => arrives(large, { leg: `view-${index}` }));
  const book = bookOf(call(), ...views);
  expect(book.history.first?.forgotten).toBeGreaterThan(0);
  const [lines = []] = read(sheetsFor().sheetOf('timeline', book, KEY, LOOK));
  expect(lines[0]).toBe('TIMELINE 21 events');
  expect(lines.filter(line => line.includes('• view note updated'))).toHaveLength(10);
});
