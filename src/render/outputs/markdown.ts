import { truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';

/** The results that every report has. */
export const BADGES = { passed: '✅ passed', failed: '❌ failed' };

/** A table of escaped cells; nothing without rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** Maximum length of a cell, in characters. */
const MAX_LENGTH = 300;

/** An untrusted text, cut and escaped. */
export function cell(text: string): string {
  return safe(truncate(visibleLine(text), MAX_LENGTH));
}

/** Escapes untrusted text: no table, link or HTML. Entities work in every Markdown dialect. */
export function safe(text: string): string {
  return text.replace(/[\\`*[\]<>|~&@]|(?<=:)\/(?=\/)/g, character => `&#${character.codePointAt(0)};`);
}
