import { type Exchange, isOpen } from '../exchange/exchange.js';
import { cancelToolCall, type Delivery, type NoticeAnswer } from './notices.js';
import type { Wire } from './wire.js';

/** Whether something of a call may still come that somebody would have to hear: its result, or what it subscribed to. */
export function isUnderWay(exchange: Exchange): boolean {
  return exchange.settled === null || isOpen(exchange);
}

/** The call, or its subscription, is over here at once, and the tool is told that nobody waits any more. Never throws. */
export function giveUp(
  wire: Wire,
  base: string,
  { key, invocation: { id, group_id: thread } }: Exchange,
  by: 'person' | 'policy',
  delivery?: Omit<Delivery, 'calls'>,
): Promise<NoticeAnswer> {
  wire.log.emit({ kind: 'decided', what: 'cancel', by, calls: [key] });
  return cancelToolCall(wire, base, { key, thread, id }, delivery);
}
