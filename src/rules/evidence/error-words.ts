import { stringsIn } from '../../text/strings-in.js';
import type { CallEvidence } from './evidence.js';

/** A longer text is hardly a complaint. */
const LONGEST = 4_000;

const WORDS =
  /\b(?:error|exception|invalid|unknown|unsupported|unrecogni[sz]ed|unexpected|malformed|missing|required?|must|cannot|can't|could not|couldn't|fail(?:s|ed|ure)?|not (?:found|valid|known|supported|allowed|available|defined|an?|implemented)|no such|does not|doesn't|refused|rejected|denied)\b/i;

/** Whether a result complains, without the words of the convention. What it repeats of the call is not its own. */
export function soundsLikeError(text: string, { reading }: Pick<CallEvidence, 'reading'>): boolean {
  if (text.length > LONGEST) return false;
  const { operation = '', arguments: args = {} } = reading.ok ? reading.invocation : {};
  return WORDS.test(withoutAll(text, [operation, ...stringsIn(args)]));
}

function withoutAll(text: string, words: readonly string[]): string {
  return words.filter(word => word.length > 2).reduce((rest, word) => rest.replaceAll(word, ' '), text);
}
