import { Book } from '../../../../src/exchange/book.js';
import { systemClock } from '../../../../src/system/clock.js';
import { createRedactor } from '../../../../src/text/redact.js';
import type { SheetLook } from '../../../../src/ui/calls/sheets/sheet.js';
import { type Tab, Verdicts } from '../../../../src/ui/workbench/tabs/index.js';
import { Sheets } from '../../../../src/ui/workbench/tabs/sheets.js';
import { eventsOf, type Moment } from '../../../exchange/build.js';

export const LOOK: SheetLook = { isSplit: false, isUnfolded: false, showsBytes: false };

export function bookOf(...parts: readonly (readonly Moment[])[]): Book {
  const book = new Book();
  for (const event of eventsOf(...parts)) book.apply(event);
  return book;
}

/** Sheets of a person who can see text and diffs; `canary-secret` is a credential of theirs. */
export function sheetsFor(onChange: () => void = () => {}, isUnvalidated = false) {
  const redactor = createRedactor(['canary-secret']);
  const verdicts = new Verdicts(systemClock, onChange, () => isUnvalidated);
  const sheets = new Sheets({
    supports: new Set(['text', 'diff']),
    highlighter: () => null,
    verdicts,
    onChange,
  });
  return {
    sheetOf: (tab: Tab, book: Book, key: string, look: SheetLook) =>
      sheets.sheetOf(tab, { book, key, redactor }, look),
  };
}

export { read } from '../../read-sheet.js';
