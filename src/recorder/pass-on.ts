import type { Content } from '../exchange/content.js';
import { type HttpAnswer, TransportError } from '../transport/client.js';
import type { Reply } from '../transport/server.js';
import type { Arrival } from './arrival.js';
import type { Desk } from './desk.js';
import { isFromTool } from './leg.js';
import { flatHeaders, headersFor, passedHeaders } from './passed-headers.js';
import { responseOf, sendOn, Unkept } from './send-on.js';

/** Where a message goes on to, and with which bytes. */
export interface Goal {
  readonly url: string;
  readonly body: Content | undefined;
  /** The origin its headers are meant for; any where there is none. */
  readonly origin?: string;
}

/**
 * Sends a message that came in on in its turn, and answers it as it is answered: neither retried nor judged.
 */
export async function passOn(desk: Desk, arrival: Arrival, { url, body, origin }: Goal): Promise<Reply> {
  const { matter, incoming, gone } = arrival;
  const passed = passedHeaders(flatHeaders(incoming.headers));
  const { headers, withheld } = origin === undefined ? noneWithheld(passed) : headersFor(url, origin, passed);
  if (withheld.length > 0) tellWithheld(desk, arrival, withheld);
  await arrival.turn();
  try {
    return answerAs(
      arrival,
      await sendOn(desk, matter, { method: 'POST', url, headers, body, signal: gone }),
    );
  } catch (error) {
    return failed(arrival, error);
  }
}

/** The answer that came, as an answer of ours. */
export function answerAs(arrival: Arrival, answer: HttpAnswer, body: Content | undefined = undefined): Reply {
  const { status, headers } = answer;
  const told = body ?? responseOf(answer).body;
  return arrival.answer({ status, headers: passedHeaders(headers), body: body?.bytes ?? answer.body }, told);
}

/** No answer came: a broken connection breaks ours; for the rest there is a status. Nothing foreign is repeated (threats, row 28). */
export function failed(arrival: Arrival, error: unknown): Reply {
  if (error instanceof Unkept)
    return arrival.answer({ status: 503, body: 'The recorder could not write its transcript.\n' });
  if (!(error instanceof TransportError)) throw error;
  const { phase, code } = error;
  const isBrokenOff = code === 'ECONNRESET' && (phase === 'send' || phase === 'answer');
  const isCalledOff = code === 'ABORTED'; // nobody waits for it any more
  if (isBrokenOff || isCalledOff) return arrival.broken('ECONNRESET');
  const whom = isFromTool(arrival.matter.purpose) ? 'runtime' : 'tool';
  return arrival.answer({ status: 502, body: `The recorder got no answer from the ${whom}: ${code}.\n` });
}

const noneWithheld = (headers: Readonly<Record<string, string>>) => ({ headers, withheld: [] });

function tellWithheld({ log }: Desk, { matter }: Arrival, withheld: readonly string[]): void {
  const message = `withheld from another origin than the tool's: ${withheld.join(', ')}`;
  log.emit({ kind: 'warned', message, calls: matter.calls, thread: matter.thread });
}
