import { canBeGivenUp } from '../../../exchange/exchange.js';
import { openPages } from '../../../exchange/questions.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { cut } from '../../../text/cut.js';
import { openPicker } from '../../live/picker.js';
import type { ShellLine } from '../controls.js';
import { openQuestion } from '../looking.js';
import { bad, type House } from './house.js';

/** Puts the tool's question to the person: that of the selected call, else the oldest of all. */
export function askQuestion({ looking, world, change, say: tell }: House): void {
  const live = world.volumes[0];
  const open = live && openQuestion(looking.volume.isLive ? looking : { ...looking, key: null }, live.book);
  if (!open) {
    tell(bad('No tool asks anything now.'));
    return;
  }
  const { key, leg, question } = open;
  const operation = live.book.history.exchanges.get(key)?.invocation.operation ?? '';
  const asker = [...quote(operation, 'title'), say(' asks', 'dim')];
  change({ overlay: { kind: 'question', key, leg, picker: { ...openPicker(question), asker } } });
}

export async function cancel({ looking, controls, say: tell }: House): Promise<void> {
  const { exchange, volume } = looking;
  if (!exchange) return tell(bad('There is no call to cancel.'));
  if (!volume.isLive) return tell(bad('A call of a transcript is over: nothing can be cancelled.'));
  if (!canBeGivenUp(exchange)) return tell(bad('The call is over, and it has no open subscription.'));
  tell(await controls.cancel(exchange.key));
}

export async function visit({ looking, controls, say: tell }: House): Promise<void> {
  const url = pageOf(looking);
  tell(url === null ? bad(NO_PAGE) : await controls.visit(url));
}

export function copyConsent(house: House): void {
  const url = pageOf(house.looking);
  if (url === null) house.say(bad(NO_PAGE));
  else copyAndShow(house, url, null);
}

const NO_PAGE = 'The call waits for no consent.';

function pageOf({ exchange, volume }: House['looking']): string | null {
  return exchange && volume.isLive ? (openPages(exchange)[0]?.auth_url ?? null) : null;
}

/** Copies a call as a line for a shell. */
export function copyAs(what: 'curl' | 'command', house: House): void {
  const { looking, controls, say: tell } = house;
  const { key, index } = looking;
  const asLine = what === 'curl' ? controls.asCurl : controls.asCommand;
  const line = key === null ? null : asLine(key, index);
  if (line) copyAndShow(house, line.text, line.gaps);
  else
    tell(
      bad(key === null ? 'There is no call to copy.' : 'Nothing is known of this call that could be copied.'),
    );
}

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
