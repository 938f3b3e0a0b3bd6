import { lineText, type Span } from '../../render/line.js';
import { codePointEnd } from '../../util/text.js';
import type { Document } from './document.js';
import { GOES_ON } from './text-document.js';

/** Maximum length of a text to copy, in characters. */
const MAX_COPIED = 1_000_000;

/** A text to copy, without the line numbers and margins of the screen. */
export function copyOf(document: Document): string {
  const lines: string[] = [];
  let [text, length] = ['', 0];
  for (let index = 0; index < document.length && length <= MAX_COPIED; index++) {
    const line = document.line(index);
    const own = lineText(line.filter(span => span !== GOES_ON && !isMargin(span)));
    length += own.length + 1;
    text += own;
    if (line.at(-1) === GOES_ON) continue;
    lines.push(text);
    text = '';
  }
  const whole = [...lines, ...(text === '' ? [] : [text])].join('\n');
  return whole.length <= MAX_COPIED ? whole : whole.slice(0, codePointEnd(whole, MAX_COPIED - 1));
}

/** Only the signs and labels of a gutter are text. */
function isMargin({ text, tone }: Span): boolean {
  return tone === 'gutter' && /^[\d ]*$/.test(text);
}
