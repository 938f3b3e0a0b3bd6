const SCROLLS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -10,
  pagedown: 10,
  space: 10,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

/** How many rows of a page that is only read are above after a key, at most `most`; null where the key closes it. */
export function scrolledBy(name: string, scroll: number, most: number): number | null {
  const by = SCROLLS[name];
  return by === undefined ? null : Math.max(0, Math.min(most, scroll + by));
}
