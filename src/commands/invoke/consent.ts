import { ProtocolCliError } from '../../errors.js';
import type { Tool } from '../../protocol/toolset.js';
import { visibleLine } from '../../text/visible.js';
import { ask, isSomebodyThere } from '../ask.js';
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
  if (!isSomebodyThere(terminal))
    throw new ProtocolCliError(
      'decision-needed',
      `${call} is marked destructive and nobody is there to ask`,
      {
        hint: 'Add --yes to call it without a question.',
      },
    );
  const answer = (await ask(`${call} is marked destructive. Call it? [y/N] `, terminal, signal)) ?? 'no';
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new ProtocolCliError('declined', `${tool.name} was not called: you said no`);
}
