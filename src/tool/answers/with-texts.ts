/** The same tree with other texts in it; keys stay as they are. */
export function withTexts<T>(tree: T, change: (text: string) => string): T {
  return changed(tree, change) as T; // texts become texts, and everything else is what it was
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(each => changed(each, change));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, change)]));
}
