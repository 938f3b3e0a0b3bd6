import { isAccepted, messagesOf } from './messages.mjs';

/** What was refused for good is not sent again. */
export function* attemptFaults(call) {
  for (const { place, attempts } of messagesOf(call)) {
    const refused = attempts.slice(0, -1).find(({ status }) => status >= 300 && status < 500);
    if (refused)
      yield { id: 'TOOL-NORETRY', why: `callback ${place} was sent again after a ${refused.status}` };
  }
}

/** Every call ends in a result that was taken, and what was lost on the wire was sent again. */
export function* unfinishedFaults(call) {
  const messages = messagesOf(call);
  const results = messages.filter(({ body }) => body?.type === 'tool_result');
  // After a cancel no result is owed; and a result that was refused has been delivered.
  const isOwed = call.ack?.status === 200 && call.endedMs === null;
  if (isOwed && results.length === 0) yield { id: 'TOOL-ALWAYS', why: 'without result' };
  for (const { place, attempts } of messages) {
    const wasLost = attempts.every(({ status }) => status === null || status >= 500);
    if (wasLost && attempts.length === 1 && !attempts.some(isAccepted))
      yield { id: 'TOOL-RETRY', why: `callback ${place} was lost and not sent again` };
  }
}
