import { Book } from '../../../../src/exchange/book.js';
import { createRedactor } from '../../../../src/text/redact.js';
import type { Sheet, SheetLook } from '../../../../src/ui/calls/sheets/sheet.js';
import { Sheets } from '../../../../src/ui/workbench/tabs/sheets.js';
import { eventsOf, type Moment } from '../../../exchange/build.js';
import { words } from '../../../support/words.js';

export const LOOK: SheetLook = { isSplit: false, isUnfolded: false, showsBytes: false };

export function bookOf(...parts: readonly (readonly Moment[])[]): Book {
  const book = new Book();
  for (const event of eventsOf(...parts)) book.apply(event);
  return book;
}

/** Sheets of a person who can see text and diffs; `canary-secret` is a credential of theirs. */
export function sheetsFor(onChange: () => void = () => {}): Sheets {
  const redactor = createRedactor(['canary-secret']);
  return new Sheets({ supports: new Set(['text', 'diff']), redactor, highlighter: () => null, onChange });
}

/** What is read in a sheet, part by part, each below its title. */
export function read({ parts }: Sheet): string[][] {
  return parts.map(({ title, document }) => [
    words(title),
    ...Array.from({ length: document.length }, (_, index) => words(document.line(index))),
  ]);
}
