import { atList } from '../../calls/browsing.js';
import type { Sent } from '../controls.js';
import { withFaults } from '../form/index.js';
import { refilled } from '../state/fillings.js';
import { isRunAgain, type Order } from '../state/orders.js';
import { isSamePlace } from '../state/same-place.js';
import type { Filling, State } from '../state/state.js';
import { askConsent } from './consent.js';
import { bad, good, type House } from './house.js';
import { offersOf } from './offers.js';

/** Sends it, or asks first. */
export function place(house: House, order: Order): void {
  const { server: id, operation } = order.draft;
  const offer = offersOf(house.world, operation).find(({ server }) => server.id === id);
  if (!offer) house.say(bad(`${operation} is not offered any more.`));
  else if (house.controls.needsConsent(id, operation)) askConsent(house, order, offer);
  else void send(house, order);
}

/**
 * Sends a draft, and shows its call; or its own form with what is wrong. Whoever has gone on to something else is only told.
 * @param isAgreed a person agreed to this very call
 */
export async function send(house: House, order: Order, isAgreed = false): Promise<void> {
  const { draft, validates } = order;
  house.change({ orders: [...house.state.orders, order] });
  const before = house.state;
  const sent = await house.controls.run(draft, { validates, isAgreed });
  const isStill = isSamePlace(before, house.state);
  house.change({ orders: house.state.orders.filter(each => each !== order) });
  house.change(refilled(house.state, order.of, filling => withAnswer(filling, sent, isStill)));
  if (sent.kind === 'sent' && isStill) house.change(shown(house.state, sent.key));
  else house.say(isStill ? bad(whyNot(sent, order)) : tidings(sent, order));
}

/** What is wrong, at its fields; whoever is typing stays in the field that they are in. */
function withAnswer(filling: Filling, sent: Sent, isStill: boolean): Filling {
  if (sent.kind !== 'invalid') return filling;
  const { form } = filling;
  return { ...filling, form: isStill ? withFaults(form, sent.faults) : { ...form, faults: sent.faults } };
}

/** For somebody who is doing something else by now. */
function tidings(sent: Sent, order: Order) {
  const { operation } = order.draft;
  return sent.kind === 'sent'
    ? good(`${operation} was sent: see Calls.`)
    : bad(`${operation}: ${whyNot(sent, order)}`);
}

function whyNot(sent: Sent, order: Order): string {
  if (sent.kind === 'refused') return sent.reason;
  const next = isRunAgain(order) ? 'e edits them.' : 'Ctrl-T sends them as they are.';
  return `Not sent: the arguments break the inputSchema. ${next}`;
}

/** The new call. What was edited of another one is in it, and begins anew the next time. */
function shown({ calls, filling }: State, key: string): Partial<State> {
  return {
    page: 'calls',
    calls: { ...atList(calls), volume: 0, selected: key, tab: 'result' },
    filling: filling?.about === null ? filling : null,
  };
}
