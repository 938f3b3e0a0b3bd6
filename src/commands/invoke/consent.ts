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
  yes: boolean,
  { stdin, stderr }: Terminal,
): Promise<void> {
  if (tool.annotations?.destructive !== true || yes) return;
  const call = `${tool.name}(${visibleLine(JSON.stringify(args))})`;
  if (stdin.isTTY !== true || stderr.isTTY !== true)
    throw new ProtocolCliError(
      'decision-needed',
      `${call} is marked destructive and nobody is there to ask`,
      {
        hint: 'Add --yes to call it without a question.',
      },
    );
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: stdin, output: stderr });
  const answer = await reader
    .question(`${call} is marked destructive. Call it? [y/N] `)
    .finally(() => reader.close());
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new ProtocolCliError('declined', `${tool.name} was not called: you said no`);
}
