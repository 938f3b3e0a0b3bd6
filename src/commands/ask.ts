import type { Terminal } from './terminal.js';

/** Whether somebody sits there who can be asked. */
export function isSomebodyThere({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * One line from the person at the terminal; null where the question was taken back by a signal or by the end of input.
 * In readline's raw mode Ctrl-C is a key: it becomes the signal again.
 */
export async function ask(
  question: string,
  { stdin, stderr, interrupt }: Terminal,
  signal: AbortSignal,
): Promise<string | null> {
  if (stdin.readableEnded) return null; // nobody can type there any more
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: stdin, output: stderr });
  reader.on('SIGINT', interrupt);
  try {
    return await reader.question(question, { signal });
  } catch {
    stderr.write('\n');
    return null;
  } finally {
    reader.close();
  }
}
