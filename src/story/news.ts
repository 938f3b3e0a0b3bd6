import type { Event } from '../exchange/events.js';
import type { History } from '../exchange/history.js';
import { formatDuration } from '../text/format-duration.js';
import { arrivalOf } from './arrival-of.js';
import type { Line } from './line.js';
import { say } from './spans.js';
import { stepLine } from './step-line.js';
import { arrivalStep } from './steps/arrivals.js';
import { eventOf, eventWords } from './steps/events.js';

/** An event of a subscription that counts, for whom it comes to (RT-SUB). */
export interface News {
  /** For the human, as the story of the call tells it. */
  readonly told: Line;
  /** For the LLM, which gets it whole. */
  readonly text: string;
  /** Above the text: which event it is, into which conversation it goes, and when it came. */
  readonly heading: Line;
}

/** The event of a subscription that has just come; null where it is none. @param history that has it already */
export function newsIn(history: History, event: Event): News | null {
  const { exchange, arrival } = (event.kind === 'request' && arrivalOf(history, event)) || {};
  const message = arrival && eventOf(arrival);
  if (!exchange || !message) return null;
  const number = exchange.subscription?.events ?? 0;
  const after = formatDuration(event.at - (exchange.attempts[0]?.sentAt ?? event.at));
  return {
    told: stepLine(arrivalStep(exchange, arrival, number)),
    text: message.text,
    heading: [say('• ', 'warn'), say(`${eventWords(message, number)} after ${after}`, 'dim')],
  };
}
