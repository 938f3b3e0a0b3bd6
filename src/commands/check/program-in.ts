import { basename } from 'node:path';

/** Words as a shell takes them, roughly: what is quoted is one. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;
const ASSIGNMENT = /^\w+=/;

/** A command for a report, which goes to others: its program alone, since the rest may hold a secret (threats, row 25). */
export function programIn(command: string): string {
  const words = command.match(WORD) ?? [];
  const program = words.find(word => !ASSIGNMENT.test(word)) ?? '';
  return `--command ${basename(program.replaceAll(/["']/g, ''))}`.trim();
}
