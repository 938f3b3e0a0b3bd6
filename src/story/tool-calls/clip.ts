import type { Line, Tone } from '../line.js';
import { quote, say } from '../spans.js';

/** Foreign words on one line, of a length that a person reads: a name may be ten megabytes long. */
export function clipped(text: string, tone: Tone = 'plain', most = 300): Line {
  if (text.length <= most) return quote(text, tone);
  return [...quote(text.slice(0, most), tone), say(`… ${text.length - most} more characters`, 'dim')];
}
