import type { Exchange } from '../exchange/exchange.js';
import { cancelToolCall, type Delivery, type NoticeAnswer } from './notices.js';
import type { Wire } from './wire.js';

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
