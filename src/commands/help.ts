import type { GuideName } from './guides.js';
import { EXIT_STATUSES, type ExitStatus } from './terminal.js';

/** One example of a command's help: what it is for, and the line itself. */
export interface Example {
  readonly about: string;
  readonly line: string;
}

export function examplesText(examples: readonly Example[]): string {
  return `\nExamples:\n${examples.map(({ about, line }) => `  # ${about}\n  ${line}`).join('\n\n')}\n`;
}

export function exitStatusText(statuses: readonly ExitStatus[]): string {
  return `\nExit status:\n${statuses.map(status => `  ${String(status).padStart(3)}  ${EXIT_STATUSES[status]}`).join('\n')}\n`;
}

/** The last line of a command's help. */
export function guideText(guide: GuideName): string {
  return `\nGuide: protocol-cli help ${guide}\n`;
}
