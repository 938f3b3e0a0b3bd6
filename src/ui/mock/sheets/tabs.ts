/** What there is to read about a call of a tool, in the order of its tabs. */
export const TABS = ['call', 'result', 'timeline', 'wire', 'views', 'problems'] as const;
export type Tab = (typeof TABS)[number];

/** Above the sheet. */
export const TITLES: readonly string[] = ['Call', 'Human / LLM', 'Timeline', 'Wire', 'Views', 'Problems'];
