import { messagesOf } from './messages.mjs';

const ASKS = { user_choice: 'TOOL-CHOICE', oauth: 'TOOL-OAUTH' };

/** One result; questions before it; events after it, while the subscription lasts. */
export function* orderFaults(call) {
  const seen = { hasResult: false, isSubscribed: false, isFinal: false };
  for (const { place, body, attempts } of messagesOf(call)) {
    const type = body?.type;
    const fault = (id, why) => ({ id, why: `callback ${place}: ${why}` });
    if (type === 'tool_result' && seen.hasResult) yield fault('TOOL-ONCE', 'a second result');
    if (Object.hasOwn(ASKS, type) && seen.hasResult) yield fault(ASKS[type], `${type} after the result`);
    if (type === 'subscription_event') {
      for (const why of eventFaults(seen, attempts, call.endedMs)) yield fault('TOOL-SUB', why);
      seen.isFinal ||= body.final === true;
    }
    seen.hasResult ||= type === 'tool_result';
    seen.isSubscribed ||= type === 'tool_result' && body.subscription === true;
  }
}

function* eventFaults({ isSubscribed, isFinal }, attempts, endedMs) {
  if (!isSubscribed) yield 'an event without a subscription';
  if (isFinal) yield 'an event after the final one';
  if (endedMs !== null && attempts.some(({ ms }) => ms > endedMs)) yield 'an event after the cancel or close';
}
