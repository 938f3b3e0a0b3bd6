import type { Tool } from '../../protocol/toolset.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt, joinFirst, truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { Prompts } from '../terminal.js';

/** Maximum number of operations that an error names. */
const MAX_NAMES = 60;

/** Maximum length of a description in the list, in characters. */
const MAX_DESCRIPTION = 60;

/** Asks the user for an operation. @throws ProtocolCliError `usage`, with the available names. */
export async function askForOperation(tools: readonly Tool[], prompts: Prompts): Promise<string> {
  const picked = prompts.canAsk ? await prompts.lendTerminal(() => pickOperation(tools, prompts)) : null;
  if (picked !== null) return picked;
  const names = [...new Set(tools.map(({ name }) => name))];
  throw new ProtocolCliError(
    prompts.signal.aborted ? 'interrupted' : 'usage',
    `no operation given. Available: ${joinFirst(names, MAX_NAMES)}`,
    { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
  );
}

async function pickOperation(tools: readonly Tool[], prompts: Prompts): Promise<string | null> {
  const lines = tools.map(
    ({ name, description }, index) => `${index + 1}  ${name}  ${truncate(description, MAX_DESCRIPTION)}`,
  );
  prompts.show(`${lines.map(visibleLine).join('\n')}\n`);
  for (;;) {
    const answer = (await prompts.ask('Operation (number or name): '))?.trim();
    if (!answer) return null;
    const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
    if (picked) return picked.name;
    prompts.show(`no operation ${excerpt(answer)}\n`);
  }
}
