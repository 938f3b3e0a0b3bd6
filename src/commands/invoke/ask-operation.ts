import type { Tool } from '../../protocol/toolset.js';
import type { AskForChoice } from '../../render/outputs/reporter.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt, joinFirst, truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { Prompts } from '../terminal.js';

/** Maximum number of operations that an error names. */
const MAX_NAMES = 60;

/** Maximum length of a description in the list, in characters. */
const MAX_DESCRIPTION = 60;

/**
 * Asks the user for an operation.
 * @param pick lets the user select on the screen; without it the user types a number or a name
 * @throws ProtocolCliError `usage`, with the available names
 */
export async function askForOperation(
  tools: readonly Tool[],
  prompts: Prompts,
  pick?: AskForChoice,
): Promise<string> {
  const picked = pick
    ? await pickOnScreen(tools, prompts, pick)
    : prompts.canAsk
      ? await prompts.lendTerminal(() => typeOperation(tools, prompts))
      : null;
  if (picked !== null) return picked;
  const names = [...new Set(tools.map(({ name }) => name))];
  throw new ProtocolCliError(
    prompts.signal.aborted ? 'interrupted' : 'usage',
    `no operation given. Available: ${joinFirst(names, MAX_NAMES)}`,
    {
      hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value. `protocol-cli toolset <url> <operation>` shows its arguments; `protocol-cli invoke -i <url>` has a form.',
    },
  );
}

/** The picker of the live view, in which Esc selects the index -1. */
async function pickOnScreen(
  tools: readonly Tool[],
  { signal }: Prompts,
  pick: AskForChoice,
): Promise<string | null> {
  const question = { type: 'user_choice', id: '', group_id: '', response_url: '' } as const;
  const choices = tools.map(labelOf);
  const picked = await pick({ ...question, prompt: 'Operation to call', choices, default: -1 }, signal);
  return tools[picked ?? -1]?.name ?? null;
}

function labelOf({ name, description, annotations }: Tool): string {
  const mark = annotations?.destructive ? 'destructive  ' : '';
  return `${name}  ${mark}${truncate(description, MAX_DESCRIPTION)}`;
}

async function typeOperation(tools: readonly Tool[], prompts: Prompts): Promise<string | null> {
  const lines = tools.map((tool, index) => `${index + 1}  ${labelOf(tool)}`);
  prompts.show(`${lines.map(visibleLine).join('\n')}\n`);
  for (;;) {
    const answer = (await prompts.ask('Operation (number or name): '))?.trim();
    if (!answer) return null;
    const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
    if (picked) return picked.name;
    prompts.show(`no operation ${excerpt(answer)}\n`);
  }
}
