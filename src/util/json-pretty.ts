import { MAX_DEPTH, scanJson } from './json-diagnosis.js';

const MAX_LENGTH = 1_000_000;

/**
 * Indents JSON token by token; numbers, escapes and repeated keys stay as written. Null if the text is not a JSON object or array, longer
 * than a million characters, or nested too deep.
 */
export function prettyJson(text: string): string | null {
  if (text.length > MAX_LENGTH || !/^\s*[{[]/.test(text) || !isJson(text)) return null;
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  const newline = () => out.push(`\n${'  '.repeat(depth)}`);
  scanJson(text, (kind, from, to) => {
    const token = text.slice(from, to);
    if (depth > MAX_DEPTH) return false;
    if (kind === 'close') {
      depth--;
      if (!opened) newline();
    } else if (opened) newline();
    opened = kind === 'open';
    if (opened) depth++;
    out.push(kind === 'colon' ? ': ' : token);
    if (kind === 'comma') newline();
    return true;
  });
  return depth > MAX_DEPTH ? null : out.join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
