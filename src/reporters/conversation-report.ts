import type { Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import { syntheticCall } from '../exchange/synthetic-call.js';
import { eventOf } from '../story/steps/events.js';
import type { CallReport } from './report-schema.js';

/** What a call subscribed to, and what a runtime makes of its events (RT-SUB); null where it did not. */
export function subscriptionReport({
  invocation,
  arrivals,
  subscription,
}: Exchange): CallReport['subscription'] {
  if (subscription === null) return null;
  const calls = arrivals.flatMap(arrival => {
    const event = eventOf(arrival);
    return event ? [syntheticCall(invocation, event)] : [];
  });
  return {
    events: subscription.events,
    ended: subscription.ended?.by ?? null,
    calls: calls.map(call => ({ ...call, thread_ancestors: [...call.thread_ancestors] })),
  };
}

/** The views of the call's thread as they are now (RT-VIEW). */
export function viewReports({ threads }: History, { invocation }: Exchange): CallReport['views'] {
  const views = threads.get(invocation.group_id)?.views.values() ?? [];
  return [...views].map(({ type, content, updates }) => ({ type, content, updates }));
}

/** What was put before the user, and what was picked (RT-CHOICE). */
export function choiceReports(exchange: Exchange): CallReport['choices'] {
  const { questions, selections } = exchange;
  return questions.flatMap(({ leg, message }) => {
    if (message.type !== 'user_choice') return [];
    const { selected = null, by = null } = selections.find(({ question }) => question === leg) ?? {};
    return [{ prompt: message.prompt, selected, by }];
  });
}
