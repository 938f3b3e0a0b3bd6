/** Of many names the first: `a, b, c and 4 more`. */
export function firstFew(names: readonly string[], most: number): string {
  return [names.slice(0, most).join(', '), ...restOf(names, most)].join(' ');
}

/** Of many the first, and how many more there are: `and 4 more`. */
export function firstOf(all: readonly string[], most: number): readonly string[] {
  return [...all.slice(0, most), ...restOf(all, most)];
}

function restOf({ length }: readonly string[], most: number): readonly string[] {
  return length > most ? [`and ${length - most} more`] : [];
}
