import { visibleRuns } from '../text/visible.js';
import type { Line, Span, Tone } from './line.js';

/** Our own words. */
export function say(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** Foreign words, safe to print, on one line. */
export function quote(text: string, tone: Tone = 'plain'): Line {
  return visibleRuns(text).map(run => ({
    text: run.text.replaceAll('\n', '␊'),
    tone: run.hidden ? 'hidden' : tone,
  }));
}
