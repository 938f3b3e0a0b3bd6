import { safeJson } from './json-safe.js';
import { scanJson } from './json-scan.js';
import type { Redactor } from './redact.js';

/** As {@link Redactor.text}, for a JSON text: only strings are touched, by what they mean, so that it stays JSON. */
export function redactJson(source: string, redactor: Redactor): string {
  if (source.length <= BLOCK && isClean(source, redactor)) return source;
  const pieces: string[] = [];
  let strings: Literal[] = [];
  let done = 0;
  let isChanged = false;
  const finishBlock = (to: number) => {
    const block = source.slice(done, to);
    if (isClean(block, redactor)) pieces.push(block);
    else {
      isChanged = true;
      for (const { from, to: end, isName } of strings) {
        pieces.push(source.slice(done, from), redactString(source.slice(from, end), redactor, isName));
        done = end;
      }
      pieces.push(source.slice(done, to));
    }
    strings = [];
    done = to;
  };
  scanJson(source, (kind, from, to) => {
    const last = strings.at(-1);
    if (kind === 'colon' && last) last.isName = true;
    else if (from - done >= BLOCK) finishBlock(from);
    if (kind === 'string') strings.push({ from, to, isName: false });
  });
  finishBlock(source.length);
  return isChanged ? pieces.join('') : source; // a copy of a large text is dear
}

/** Characters. Of a long text, only the blocks with something secret in them are read string by string. */
const BLOCK = 16 * 1024;

interface Literal {
  readonly from: number;
  readonly to: number;
  isName: boolean;
}

/** An escape may hide any character; whatever else is in there is found as it is written. */
function isClean(text: string, redactor: Redactor): boolean {
  return !text.includes('\\u') && redactor.text(text) === text;
}

function redactString(literal: string, redactor: Redactor, isName: boolean): string {
  const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
  const clean = isName && redactor.name ? redactor.name(text) : redactor.text(text);
  return clean === text ? literal : safeJson(clean);
}
