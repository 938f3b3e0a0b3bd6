import { scanJson } from './json-scan.js';

/** A JSON text on one line, each token as it was written; one that has no line breaks stays as it is. */
export function onOneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text.trim();
  const tokens: string[] = [];
  scanJson(text, (_, from, to) => tokens.push(text.slice(from, to)));
  return tokens.join('');
}
