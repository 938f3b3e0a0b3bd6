import { cut } from '../../../text/cut.js';
import { safeJson } from '../../../text/json-safe.js';
import { type Askable, openPicker, type Picker } from '../../live/picker.js';
import type { Draft } from '../controls.js';
import { isRunAgain, type Order } from '../state/orders.js';
import type { House } from './house.js';
import type { Offer } from './offers.js';

/** Characters: what does not fit on the screen is counted there. */
const LONGEST_NAME = 200;
const LONGEST_ARGUMENTS = 4_000;

/** Asks whether a destructive operation is to be called: where, and with what. Not to is the default. */
export function askConsent({ change }: House, order: Order, offer: Offer): void {
  change({ overlay: { kind: 'consent', order, picker: consentPicker(order.draft, offer) } });
}

function consentPicker({ operation, arguments: args }: Draft, { server }: Offer): Picker<Askable> {
  return openPicker({
    prompt: [
      `${nameOf(operation)} is marked destructive. Call it?`,
      `At ${nameOf(server.about)}, with ${cut(safeJson(args), LONGEST_ARGUMENTS)}`,
    ].join('\n'),
    choices: ['Call it', 'Do not call it'],
    default: 1,
  });
}

/** A foreign name takes no line that could pass for one of ours. */
function nameOf(text: string): string {
  return cut(text, LONGEST_NAME).replaceAll('\n', '␊');
}

/** The person said no: nothing is sent, that is on record, and they are told how they could have it otherwise. */
export async function decline({ controls, say: tell }: House, order: Order): Promise<void> {
  const { draft } = order;
  const said = await controls.decline(draft);
  const again = isRunAgain(order) ? 'r' : 'Ctrl-R';
  tell({ ...said, text: `${nameOf(draft.operation)}: ${said.text}. ${again}, then 0, calls it.` });
}
