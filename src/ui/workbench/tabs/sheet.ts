import type { Highlighter } from '../../../display/syntax/highlighter.js';
import type { Book } from '../../../exchange/book.js';
import type { Redactor } from '../../../text/redact.js';

/** What there is to read about a call, in the order of its tabs. */
export const TABS = ['result', 'timeline', 'wire', 'views', 'problems'] as const;
export type Tab = (typeof TABS)[number];

/** Above the sheet, in the same order. */
export const TITLES: readonly string[] = ['Human / LLM', 'Timeline', 'Wire', 'Views', 'Problems'];

/** One call, where its events are. */
export interface Subject {
  readonly book: Book;
  readonly key: string;
}

export interface SheetsOptions {
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  /** Of whatever is not for the human to read: it knows the credentials and tokens of this session (threats, row 25). */
  readonly redactor: Redactor;
  readonly highlighter: () => Highlighter | null;
  /** A sheet is another one now, though no event came. */
  readonly onChange: () => void;
}
