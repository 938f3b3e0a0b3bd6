import type { Exchange } from '../../exchange/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import { converse as converseOver } from '../../runtime/converse.js';
import type { Answering } from '../../runtime/questions.js';
import { type Opened, type Setting, waitsForPeople } from './opening.js';

/** Who answers what the tool asks, and when a call is left though it is pending. */
export interface Company {
  readonly answering: Answering;
  readonly leave: (exchange: Exchange) => boolean;
}

/** Sends an addressed call as the options say, has its questions answered, and waits until it is settled or left. */
export function converse(
  { plan, observation: { history }, clock, terminal }: Setting,
  { prepared: { wire, endpoint }, runtime }: Opened,
  invocation: Invocation,
  { answering, leave }: Company,
): Promise<Exchange> {
  const { timeout: timeoutMs, retries, lenientAck = false } = plan.options;
  const waiting = { timeoutMs, waitsForPeople: waitsForPeople(plan.options, terminal), leave };
  const call = { endpoint, invocation, retries, lenientAck, ...waiting };
  return converseOver({ runtime, wire, history, clock }, call, answering);
}
