import { remembering } from '../../text/remembering.js';

const BESIDES_LETTERS = /[^\p{L}\p{N}]/gu;

/** Tells keys whose values are secrets: `api_key`, `apiKey`, `api-key` and `API KEY` are one key. */
export function secretKeys(names: readonly string[]): (key: string) => boolean {
  const known = new Set(names.map(bare).filter(Boolean));
  return remembering(key => known.has(bare(key)));
}

function bare(key: string): string {
  return key.replace(BESIDES_LETTERS, '').toLowerCase();
}
