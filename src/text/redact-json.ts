import { safeJson } from './json-safe.js';
import { scanJson } from './json-scan.js';
import type { Redactor } from './redact.js';

/** As {@link Redactor.text}, for a JSON text: only strings are touched, by what they mean, so that it stays JSON. */
export function redactJson(source: string, redactor: Redactor): string {
  // An escape may hide any character; whatever else is in there is found as it is written.
  if (!source.includes('\\u') && redactor.text(source) === source) return source;
  const pieces: string[] = [];
  let done = 0;
  let string: { readonly from: number; readonly to: number } | null = null;
  const redact = (isName: boolean) => {
    if (!string) return;
    const literal = source.slice(string.from, string.to);
    pieces.push(source.slice(done, string.from), redactString(literal, redactor, isName));
    done = string.to;
  };
  scanJson(source, (kind, from, to) => {
    redact(kind === 'colon');
    string = kind === 'string' ? { from, to } : null;
  });
  redact(false);
  return pieces.join('') + source.slice(done);
}

function redactString(literal: string, redactor: Redactor, isName: boolean): string {
  const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
  const clean = isName && redactor.name ? redactor.name(text) : redactor.text(text);
  return clean === text ? literal : safeJson(clean);
}
