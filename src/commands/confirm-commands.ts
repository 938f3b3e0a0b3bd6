import { ProtocolCliError } from '../errors.js';
import { visibleLine } from '../text/visible.js';
import { ask, isSomebodyThere } from './ask.js';
import { type ConfiguredTarget, commandOf } from './target.js';
import type { Terminal } from './terminal.js';

/**
 * A folder may come from anybody: the commands of its `.infinity/rap.json` are offered, not run unasked.
 * @throws ProtocolCliError `decision-needed` where nobody is there to ask, `declined` where the answer is no.
 */
export async function confirmCommands(
  targets: readonly ConfiguredTarget[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  for (const target of targets) {
    const command = commandOf(target);
    if (command === null) continue;
    const what = `.infinity/rap.json starts the command: ${visibleLine(command)}`;
    if (!isSomebodyThere(terminal))
      throw new ProtocolCliError('decision-needed', what, {
        hint: 'Add --yes to start it without a question.',
      });
    const answer = (await ask(`${what}\nStart it? [y/N] `, terminal, signal)) ?? 'no';
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new ProtocolCliError('declined', 'it was not started: you said no');
  }
}
