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
