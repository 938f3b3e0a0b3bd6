import type { Warning } from '../../protocol/requirements.js';
import { visibleLine } from '../../util/visible.js';
import type { Report } from './report-schema.js';
import type { Trouble } from './reporter.js';

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
