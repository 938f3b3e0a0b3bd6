/** What a tree has at a path, by own keys only; undefined where it has nothing there. */
export function valueAt(tree: unknown, ...path: readonly (string | number)[]): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = value[key as keyof typeof value];
  }
  return value;
}
