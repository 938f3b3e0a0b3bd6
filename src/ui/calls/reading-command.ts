import type { ReadingCommand } from '../document/index.js';

const READING: ReadonlySet<string> = new Set<ReadingCommand>([
  'lineUp',
  'lineDown',
  'pageUp',
  'pageDown',
  'left',
  'right',
  'top',
  'bottom',
  'nextHunk',
  'previousHunk',
  'nextFile',
  'previousFile',
  'wrap',
  'split',
  'fold',
  'nextMatch',
  'previousMatch',
]);

/**
 * Whether a command is about what is read. A list with the focus has its own way with `n`; pages of the sheet beside it are turned
 * all the same.
 */
export function isReading(command: string, focus: 'list' | number): command is ReadingCommand {
  if (focus === 'list') return command === 'pageDown' || command === 'pageUp';
  return READING.has(command);
}
