/** Of many names the first: `a, b, c and 4 more`. */
export function firstFew(names: readonly string[], most: number): string {
  const rest = names.length - most;
  return names.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
