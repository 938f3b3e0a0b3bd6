import { scanJson, stringEnd } from './json-tokens.js';
import type { Redactor } from './redact.js';
import { safeJson } from './safe-json.js';

/** As {@link Redactor.text} for a JSON text: redacts decoded strings, so that it stays JSON. */
export function redactJson(source: string, redactor: Redactor): string {
  const pieces: string[] = [];
  let done = 0;
  let isChanged = false;
  const finishBlock = (to: number) => {
    const block = source.slice(done, to);
    const clean = isClean(block, redactor) ? block : redactStrings(block, redactor);
    isChanged ||= clean !== block;
    pieces.push(clean);
    done = to;
  };
  // A block begins with a string, so that no string is in two blocks, and a name is in one block with its colon.
  for (let quote = source.indexOf('"'); quote >= 0; quote = source.indexOf('"', stringEnd(source, quote)))
    if (quote - done >= BLOCK) finishBlock(quote);
  finishBlock(source.length);
  return isChanged ? pieces.join('') : source; // avoids a copy of a large text
}

/** Block size in characters. Only blocks that contain secrets are read string by string. */
const BLOCK = 16 * 1024;

function redactStrings(block: string, redactor: Redactor): string {
  const strings: { readonly from: number; readonly to: number; isName: boolean }[] = [];
  scanJson(block, (kind, from, to) => {
    const last = strings.at(-1);
    if (kind === 'colon' && last) last.isName = true;
    if (kind === 'string') strings.push({ from, to, isName: false });
  });
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, isName } of strings) {
    pieces.push(block.slice(done, from), redactString(block.slice(from, to), redactor, isName));
    done = to;
  }
  return pieces.join('') + block.slice(done);
}

/** Whether a text has no secrets, and no escapes, which can hide any character. */
function isClean(text: string, redactor: Redactor): boolean {
  return !text.includes('\\u') && redactor.text(text) === text;
}

function redactString(literal: string, redactor: Redactor, isName: boolean): string {
  const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
  const clean = isName && redactor.name ? redactor.name(text) : redactor.text(text);
  return clean === text ? literal : safeJson(clean);
}
