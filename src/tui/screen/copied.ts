import { quote, say } from '../../render/line.js';
import { truncate } from '../../util/text.js';
import type { ActionResult, ScreenEffects } from './effects.js';

/** Maximum length of a copied text on the screen, in characters. */
const MAX_COPIED = 20_000;

/**
 * Shows a text that was copied: not every terminal supports clipboard access.
 * @param command what the user must fill in, if the text is a command
 */
export function showCopied(
  { show }: Pick<ScreenEffects<never>, 'show'>,
  text: string,
  { text: said, isBad }: ActionResult,
  command?: { readonly gaps: readonly string[] },
): void {
  const missing = command?.gaps.length
    ? [say('; fill in: ', 'warn'), ...quote(command.gaps.join(', '), 'warn')]
    : [];
  show({
    kind: 'page',
    scroll: 0,
    page: {
      title: [say(said, isBad ? 'bad' : 'good'), ...missing],
      text: truncate(text, MAX_COPIED),
      isCommand: command !== undefined,
    },
  });
}
