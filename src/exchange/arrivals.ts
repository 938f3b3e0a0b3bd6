import { readCallback } from '../protocol/callbacks/read.js';
import type { Warning } from '../protocol/requirements.js';
import { excerpt } from '../text/excerpt.js';
import type { Content } from './content.js';
import type { RequestEvent, ResponseEvent } from './events.js';
import type { Arrival, Exchange } from './exchange.js';
import { withoutSurplus } from './forgetting.js';
import { judge } from './judge.js';

/** A callback at the URL of a call, judged; `native` is the message as it came, where it could be read. */
export function arrivalOf(
  exchange: Exchange,
  { leg, at }: RequestEvent,
  body: Content,
): { readonly arrival: Arrival; readonly native: unknown } {
  const reading = readCallback(body.json);
  const verdict = judge(exchange, reading, body.sha256);
  const about = { leg, at, verdict, sha256: body.sha256, size: body.size };
  if (!reading.ok) return { arrival: { ...about, message: null, warnings: [] }, native: null };
  const { message, native } = reading;
  const warnings = [...reading.warnings, ...callIdWarnings(exchange, message)];
  return { arrival: { ...about, message, warnings }, native };
}

/** One more arrival, and of very many the oldest no more. */
export function withArrival(exchange: Exchange, arrival: Arrival): Exchange {
  return withoutSurplus({ ...exchange, arrivals: [...exchange.arrivals, arrival] });
}

/** What the listener answered; a refusal by its guard is an arrival of its own. */
export function withAnswer(exchange: Exchange, { leg, at, status, refusal }: ResponseEvent): Exchange {
  if (refusal !== undefined) return withArrival(exchange, refused(leg, at, status, refusal));
  return withArrivalEnd(exchange, leg, { status });
}

/** What became of a callback. */
export function withArrivalEnd(
  exchange: Exchange,
  leg: string,
  end: Pick<Arrival, 'status' | 'broken'>,
): Exchange {
  const { arrivals } = exchange;
  const index = arrivals.findLastIndex(arrival => arrival.leg === leg);
  const arrival = arrivals[index];
  return arrival ? { ...exchange, arrivals: arrivals.with(index, { ...arrival, ...end }) } : exchange;
}

/** The listener's guard turned it away before its body counted. */
function refused(leg: string, at: number, status: number, reason: string): Arrival {
  const verdict = { kind: 'rejected', status, reason } as const;
  return { leg, at, verdict, message: null, sha256: '', size: 0, warnings: [], status };
}

function callIdWarnings({ invocation }: Exchange, message: object): Warning[] {
  const given = invocation.call_id ?? null;
  const came = 'call_id' in message ? message.call_id : undefined;
  if (!('id' in message) || given === null || came === given) return [];
  return [
    {
      id: 'TOOL-CALLID',
      message: `call_id ${saidOf(came)}, it was ${excerpt(given)}`,
    },
  ];
}

function saidOf(came: unknown): string {
  if (came === undefined) return 'did not come back';
  return `came back as ${typeof came === 'string' ? excerpt(came) : 'null'}`;
}
