/** Of a description, which may be a book: as much as a row shows. */
export function firstLineOf(text: string): string {
  return text.slice(0, 400).split('\n', 1)[0] ?? '';
}
