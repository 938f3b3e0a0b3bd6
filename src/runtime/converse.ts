import type { Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Clock } from '../system/clock.js';
import { type Answering, answerQuestions } from './questions.js';
import type { Call, Runtime } from './runtime.js';
import type { Wire } from './wire.js';

/** What a call is made with. */
export interface Line {
  readonly runtime: Runtime;
  readonly wire: Wire;
  /** Subscribed to the wire's log. */
  readonly history: History;
  readonly clock: Clock;
}

/**
 * Sends an addressed call, has its questions answered, and waits until it is settled or left.
 * @throws ProtocolCliError as {@link Runtime.invoke} does.
 */
export async function converse(
  { runtime, wire, history, clock }: Line,
  call: Call,
  answering: Answering,
): Promise<Exchange> {
  const stopAnswering = answerQuestions(wire, history, call.invocation, answering, clock);
  return runtime.invoke(wire, call).finally(stopAnswering);
}
