import type { Highlighter } from '../../../display/syntax/highlighter.js';
import type { Volume } from '../world.js';

/** What there is to read about a call, in the order of its tabs. */
export const TABS = ['result', 'timeline', 'wire', 'views', 'problems'] as const;
export type Tab = (typeof TABS)[number];

/** Above the sheet, in the same order. */
export const TITLES: readonly string[] = ['Human / LLM', 'Timeline', 'Wire', 'Views', 'Problems'];

/** One call, where its events are. */
export interface Subject extends Pick<Volume, 'book' | 'redactor'> {
  readonly key: string;
}

export interface SheetsOptions {
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  /** A sheet is another one now, though no event came. */
  readonly onChange: () => void;
}
