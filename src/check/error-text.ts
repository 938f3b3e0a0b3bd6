import type { Invocation } from '../protocol/invocation.js';
import { outcomeOfText } from '../protocol/outcome.js';
import { stringsIn } from '../util/values.js';

/** Whether a text is an error by convention, or reads like one. */
export function isErrorText(text: string, invocation: Invocation | null): boolean {
  return outcomeOfText(text).type !== 'success' || soundsLikeError(text, invocation);
}

/** A longer text is hardly an error message. */
const MAX_ERROR_LENGTH = 4_000;

const ERROR_WORDS =
  /\b(?:error|exception|invalid|unknown|unsupported|unrecogni[sz]ed|unexpected|malformed|missing|required?|must|cannot|can't|could not|couldn't|fail(?:s|ed|ure)?|not (?:found|valid|known|supported|allowed|available|defined|an?|implemented)|no such|does not|doesn't|refused|rejected|denied)\b/i;

/** Whether a text reads like an error, without the words that it repeats from the invocation. */
function soundsLikeError(text: string, invocation: Invocation | null): boolean {
  if (text.length > MAX_ERROR_LENGTH) return false;
  const repeated = [invocation?.operation ?? '', ...stringsIn(invocation?.arguments ?? {})];
  const own = repeated
    .filter(word => word.length > 2)
    .reduce((rest, word) => rest.replaceAll(word, ' '), text);
  return ERROR_WORDS.test(own);
}
