import { scanJson } from './json-scan.js';
import type { Redactor } from './redact.js';

/** As {@link Redactor.text}, for a JSON text: only strings are touched, so that it stays JSON. */
export function redactJson(source: string, redactor: Redactor): string {
  if (redactor.text(source) === source) return source;
  const pieces: string[] = [];
  let done = 0;
  scanJson(source, (kind, from, to) => {
    if (kind !== 'string') return;
    pieces.push(source.slice(done, from), `"${redactor.text(source.slice(from + 1, to - 1))}"`);
    done = to;
  });
  return pieces.join('') + source.slice(done);
}
