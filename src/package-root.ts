/** The folder of the package: one level up, from `src/` as from `dist/`. The only module that knows. */
const ROOT = new URL('../', import.meta.url);

/** A file that ships with the package, by its path from the package's root. */
export function shippedFile(path: string): URL {
  return new URL(path, ROOT);
}
