import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { cut } from '../../../text/cut.js';
import type { ShellLine } from '../controls.js';
import { NO_PAGE, pageOf } from './call.js';
import { bad, type House } from './house.js';

export function copyConsent(house: House): void {
  const url = pageOf(house.looking);
  if (url === null) house.say(bad(NO_PAGE));
  else copyAndShow(house, url, null);
}

/** Copies a call as a line for a shell. */
export function copyAs(what: 'curl' | 'command', house: House): void {
  const { looking, controls, say: tell } = house;
  const { key, volume } = looking;
  const asLine = what === 'curl' ? controls.asCurl : controls.asCommand;
  const line = key === null ? null : asLine(key, volume.id);
  if (line) copyAndShow(house, line.text, line.gaps);
  else if (key === null) tell(bad('There is no call to copy.'));
  else
    tell(
      bad(controls.asCurl(key, volume.id) ? NO_LINE : 'Nothing of this call was sent that could be copied.'),
    );
}

const NO_LINE =
  'No line of this program is the same call: a secret is in its target, or it holds what is unseen or no exact number. y copies it as curl.';

/** Characters. More of it nobody copies by hand. */
const MOST_SHOWN = 20_000;

/** Not every terminal lets a program have its clipboard: what was copied can be copied by hand too. @param gaps null where it is no command */
function copyAndShow({ controls, change }: House, text: string, gaps: ShellLine['gaps'] | null): void {
  const { text: said, isBad } = controls.copy(text);
  const title = [say(said, isBad ? 'bad' : 'good'), ...(gaps ? gapsLine(gaps) : [])];
  const shown = cut(text, MOST_SHOWN);
  change({ overlay: { kind: 'copied', title, text: shown, isShell: gaps !== null, scroll: 0 } });
}

function gapsLine(gaps: readonly string[]): Line {
  return gaps.length === 0 ? [] : [say('; put in your ', 'warn'), ...quote(gaps.join(', '), 'warn')];
}
