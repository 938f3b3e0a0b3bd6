import { quote, say } from '../../render/line.js';
import { truncate } from '../../util/text.js';
import type { ActionResult, ScreenEffects } from './effects.js';

/** Maximum length of a copied text on the screen, in characters. */
const MAX_COPIED = 20_000;

/** Shows a text that was copied: not every terminal supports clipboard access. @param gaps what is missing in a command; null if the text is not a command */
export function showCopied(
  { show }: Pick<ScreenEffects<never>, 'show'>,
  text: string,
  { text: said, isBad }: ActionResult,
  gaps: readonly string[] | null = null,
): void {
  const missing = gaps?.length ? [say('; fill in: ', 'warn'), ...quote(gaps.join(', '), 'warn')] : [];
  show({
    kind: 'page',
    scroll: 0,
    page: {
      title: [say(said, isBad ? 'bad' : 'good'), ...missing],
      text: truncate(text, MAX_COPIED),
      isCommand: gaps !== null,
    },
  });
}
