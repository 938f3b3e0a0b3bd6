/** On what an outcome stands, in words; another basis than is known here has its own. */
export function basisWords(basis: string): string {
  return basis === 'convention' ? 'by convention' : basis;
}
