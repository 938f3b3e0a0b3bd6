import { ProtocolCliError } from '../../errors.js';

/** Options that would do nothing beside another one, each with why. */
export type Idle = ReadonlyMap<string, string>;

/** Options that would do nothing are refused, and named. @throws ProtocolCliError `usage`. */
export function refuseIdle(beside: string, told: readonly string[], options: Idle): void {
  const idle = told.filter(option => options.has(option));
  if (idle.length === 0) return;
  throw new ProtocolCliError('usage', `${beside} has no use for ${idle.join(', ')}`, {
    faults: idle.map(option => `${option}: ${options.get(option)}`),
    hint: `Leave ${idle.length === 1 ? 'it' : 'them'} out; \`protocol-cli invoke --help\` lists all of these.`,
  });
}

/** For the help. */
export function idleText(beside: string, options: Idle): string {
  return `\nOptions that cannot be combined with ${beside}:\n${wrapped([...options.keys()])}\n`;
}

function wrapped(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= 78) lines[lines.length - 1] = longer;
    else lines.push(`    ${word}`);
  }
  return lines.join('\n');
}
