import { canBeGivenUp } from '../../../exchange/exchange.js';
import { openPages } from '../../../exchange/questions.js';
import { quote, say } from '../../../story/spans.js';
import { atList } from '../../calls/browsing.js';
import { openPicker } from '../../live/picker.js';
import { openQuestion } from '../looking.js';
import { bad, type House } from './house.js';

/** Puts the tool's question to the person: that of the selected call, else the oldest of all, whose call is selected then. */
export function askQuestion({ looking, world, state, change, say: tell }: House): void {
  const live = world.volumes[0];
  const open = live && openQuestion(looking.volume.isLive ? looking : { ...looking, key: null }, live.book);
  if (!open) {
    tell(bad('No tool asks anything now.'));
    return;
  }
  const { key, leg, question } = open;
  const operation = live.book.history.exchanges.get(key)?.invocation.operation ?? '';
  const asker = [...quote(operation, 'title'), say(' asks in ', 'dim'), ...quote(question.id)];
  const isRead = looking.volume === live && looking.key === key;
  const calls = { ...(isRead ? state.calls : atList(state.calls)), volume: live.id, selected: key };
  change({ calls, overlay: { kind: 'question', key, leg, picker: { ...openPicker(question), asker } } });
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

export const NO_PAGE = 'The call waits for no consent.';

/** The page that the call waits for; null where it waits for none. */
export function pageOf({ exchange, volume }: House['looking']): string | null {
  return exchange && volume.isLive ? (openPages(exchange)[0]?.auth_url ?? null) : null;
}
