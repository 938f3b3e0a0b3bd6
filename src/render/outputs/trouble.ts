import type { Warning } from '../../protocol/requirements.js';
import { visibleLine } from '../../util/visible.js';
import type { Trouble } from './reporter.js';
import type { Report } from './schemas.js';

/** `error: …`, its faults, and what to do next; every line safe to print. */
export function troubleText({ message, faults = [], hint }: Trouble): string {
  const lines = [`error: ${visibleLine(message)}`, ...faults.map(fault => `  ${visibleLine(fault)}`)];
  return `${[...lines, ...(hint ? [`hint: ${visibleLine(hint)}`] : [])].join('\n')}\n`;
}

/** `warning: … [TOOL-ACK]` */
export function warningText({ id, message }: Warning): string {
  return `warning: ${visibleLine(message)}${id ? ` [${id}]` : ''}\n`;
}

/** The same as data. */
export function errorReport({ code, message, hint, faults = [] }: Trouble): NonNullable<Report['error']> {
  return { code, message, hint, ...(faults.length > 0 && { faults: [...faults] }) };
}

const WIDEST = 80;

/** Breaks long lines of messages at spaces on a terminal; elsewhere they stay whole, for `grep`. */
export function wrapMessages(
  text: string,
  { isTTY, columns = WIDEST }: { readonly isTTY?: boolean; readonly columns?: number },
): string {
  if (!isTTY) return text;
  const width = Math.min(columns, WIDEST);
  return text.replace(new RegExp(`(?=[^\\n]{${width + 1}})(\\S[^\\n]{0,${width - 1}}) +`, 'g'), '$1\n');
}
