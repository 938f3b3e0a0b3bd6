/** Of a character that a cut went through. */
const HALF = /[\uD800-\uDBFF]$/;

/** The beginning of a foreign text, of a length that a person reads. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(HALF, '').toWellFormed()}…`;
}
