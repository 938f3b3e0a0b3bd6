import { distance } from 'fastest-levenshtein';

/** Up to three candidates that the word was probably meant to be, nearest first. */
export function nearest(word: string, candidates: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor(word.length / 2));
  return candidates
    .map(candidate => ({ candidate, far: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, far }) => far <= limit || candidate.startsWith(word))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** ` Did you mean "a" or "b"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const names = nearest(word, candidates).map(name => `"${name}"`);
  return names.length > 0 ? `Did you mean ${names.join(' or ')}?` : '';
}
