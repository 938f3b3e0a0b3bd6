import type { Exchange } from '../../exchange/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import { type Answering, answerQuestions } from '../../runtime/questions.js';
import { type Opened, type Setting, waitsForPeople } from './opening.js';

/** Who answers what the tool asks, and when a call is left though it is pending. */
export interface Company {
  readonly answering: Answering;
  readonly leave: (exchange: Exchange) => boolean;
}

/** Sends an addressed call, has its questions answered, and waits until it is settled or left. */
export async function converse(
  { plan, observation, clock, terminal }: Setting,
  { prepared: { wire, endpoint }, runtime }: Opened,
  invocation: Invocation,
  { answering, leave }: Company,
): Promise<Exchange> {
  const { timeout: timeoutMs, retries, lenientAck = false } = plan.options;
  const stopAnswering = answerQuestions(wire, observation.history, invocation, answering, clock);
  const call = { endpoint, invocation, timeoutMs, retries, lenientAck, leave };
  const exchange = await runtime.invoke(wire, {
    ...call,
    waitsForPeople: waitsForPeople(plan.options, terminal),
  });
  await stopAnswering();
  return exchange;
}
