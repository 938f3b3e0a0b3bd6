import type { Draft } from '../controls.js';

/** A draft that is to be sent. */
export interface Order {
  readonly draft: Draft;
  readonly validates: boolean;
  /** The filling that it is of; the name of the call that is run again. */
  readonly of: symbol | string;
}

/** Nothing is sent twice. */
export function isUnderWay(orders: readonly Order[], of: Order['of']): boolean {
  return orders.some(order => order.of === of);
}

/** Whether a call is run again: no form shows that it is on its way. */
export function isRunAgain({ of }: Order): boolean {
  return typeof of === 'string';
}
