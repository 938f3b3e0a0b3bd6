import { ProtocolCliError } from '../../errors.js';
import type { Tool } from '../../protocol/toolset.js';
import { visibleLine } from '../../text/visible.js';
import type { Terminal } from '../terminal.js';

/**
 * Asks before a tool that says of itself that it destroys something.
 * @throws ProtocolCliError `decision-needed` where nobody is there to ask, `declined` where the answer is no.
 */
export async function confirmDestructive(
  tool: Tool,
  args: unknown,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const call = `${tool.name}(${visibleLine(JSON.stringify(args))})`;
  if (terminal.stdin.isTTY !== true || terminal.stderr.isTTY !== true)
    throw new ProtocolCliError(
      'decision-needed',
      `${call} is marked destructive and nobody is there to ask`,
      {
        hint: 'Add --yes to call it without a question.',
      },
    );
  const answer = await ask(`${call} is marked destructive. Call it? [y/N] `, terminal, signal);
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new ProtocolCliError('declined', `${tool.name} was not called: you said no`);
}

/** A signal takes the question back; in readline's raw mode Ctrl-C is a key, and becomes the signal again. */
async function ask(question: string, { stdin, stderr }: Terminal, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: stdin, output: stderr });
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await reader.question(question, { signal });
  } catch {
    stderr.write('\n'); // the end of input (Ctrl-D) is no consent; neither is an interruption
    return '';
  } finally {
    reader.close();
  }
}
