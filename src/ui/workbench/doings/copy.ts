import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { cut } from '../../../text/cut.js';
import type { ShellLine } from '../controls.js';
import { isSamePlace } from '../state/same-place.js';
import { NO_PAGE, pageOf } from './call.js';
import { bad, type House } from './house.js';

export function copyConsent(house: House): void {
  const url = pageOf(house.looking);
  if (url === null) house.say(bad(NO_PAGE));
  else copyAndShow(house, url, null);
}

export function copyCurl(house: House): void {
  const { looking, controls } = house;
  const { key, volume } = looking;
  const line = key === null ? null : controls.asCurl(key, volume.id);
  if (line) copyAndShow(house, line.text, line.gaps);
  else house.say(key === null ? NO_CALL : bad('Nothing of this call was sent that could be copied.'));
}

/** Whoever has gone on to something else by then is left alone. */
export async function copyCommand(house: House): Promise<void> {
  const { looking, controls, state: before } = house;
  const { key, volume } = looking;
  if (key === null) return house.say(NO_CALL);
  const line = await controls.asCommand(key, volume.id);
  if (!isSamePlace(before, house.state)) return;
  if (!('isBad' in line)) copyAndShow(house, line.text, line.gaps);
  else house.say(controls.asCurl(key, volume.id) ? bad(`${line.text}. y copies it as curl.`) : line);
}

const NO_CALL = bad('There is no call to copy.');

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
