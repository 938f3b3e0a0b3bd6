/** Where a test case of JUnit stands: `fixtures.yaml:12` is a line of a file; `fixtures.json#3` is only its file. */
export function placeOf(place: string): Record<string, string> {
  const [, file, line] = /^(.+?)(?::(\d+)(?::\d+)?|#\d+)$/.exec(place) ?? [];
  return { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
}
