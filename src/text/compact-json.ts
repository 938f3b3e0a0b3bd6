/** JSON without blanks; null for what is none: a cycle, a bigint, nothing at all. */
export function compactJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}
