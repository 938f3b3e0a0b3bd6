import { CallLog } from '../../../../src/events/history.js';
import type { SheetLook } from '../../../../src/tui/calls/tabs.js';
import { CallSheets, type Tab } from '../../../../src/tui/workbench/tabs.js';
import { createRedactor } from '../../../../src/util/redact.js';
import { eventsOf, type Moment } from '../../../events/build.js';

export const LOOK: SheetLook = { isSplit: false, isUnfolded: false, showsBytes: false };

export function bookOf(...parts: readonly (readonly Moment[])[]): CallLog {
  const book = new CallLog();
  for (const event of eventsOf(...parts)) book.apply(event);
  return book;
}

/** Sheets of a person who can see text and diffs; `canary-secret` is a credential of theirs. */
export function sheetsFor(onChange: () => void = () => {}, isUnvalidated = false) {
  const redactor = createRedactor(['canary-secret']);
  const sheets = new CallSheets({
    supports: new Set(['text', 'diff']),
    highlighter: () => null,
    isUnvalidated: () => isUnvalidated,
    marked: () => null,
    onChange,
  });
  return {
    sheetOf: (tab: Tab, book: CallLog, key: string, look: SheetLook) =>
      sheets.sheetOf(tab, { book, key, redactor }, look),
  };
}
