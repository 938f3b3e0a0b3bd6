import { readCallback } from '../protocol/callbacks/read.js';
import { invocationSchema } from '../protocol/invocation.js';
import type { Warning } from '../protocol/requirements.js';
import type { Content } from './content.js';
import type { Event, RequestEvent, ResponseEvent } from './events.js';
import type { Arrival, Attempt, Exchange, Settlement } from './exchange.js';
import { judge } from './judge.js';

/** The exchange that an invocation's first request begins; null where it is none. */
export function begin(key: string, event: RequestEvent): Exchange | null {
  if (event.purpose !== 'invocation') return null;
  const json = event.body?.json;
  const invocation = invocationSchema.safeParse(json?.ok ? json.value : undefined);
  if (!invocation.success) return null;
  return {
    key,
    invocation: invocation.data,
    endpoint: event.url,
    attempts: [],
    arrivals: [],
    waitingFor: null,
    settled: null,
  };
}

/** What an exchange is after one more event. Pure: the same events give the same exchange, live or read from a file. */
export function step(exchange: Exchange, event: Event): Exchange {
  switch (event.kind) {
    case 'request':
      return onRequest(exchange, event);
    case 'response':
      return onResponse(exchange, event);
    case 'broken':
      return withAttempt(exchange, event.leg, {
        endedAt: event.at,
        broken: { phase: event.phase, code: event.code },
      });
    case 'expired':
      if (event.what === 'linger') return exchange;
      return settle(exchange, { by: 'timeout', at: event.at, afterMs: event.afterMs });
    case 'decided':
      return onDecision(exchange, event);
    default:
      return exchange;
  }
}

function onRequest(exchange: Exchange, event: RequestEvent): Exchange {
  if (event.purpose === 'invocation')
    return { ...exchange, attempts: [...exchange.attempts, { leg: event.leg, sentAt: event.at }] };
  if (event.purpose !== 'callback' || !event.body) return exchange; // without a body it was refused: its answer says why
  return onCallback(exchange, event, event.body);
}

function onCallback(exchange: Exchange, event: RequestEvent, body: Content): Exchange {
  const reading = readCallback(body.json);
  const verdict = judge(exchange, reading, body.sha256);
  const message = reading.ok ? reading.message : null;
  const warnings = reading.ok ? [...reading.warnings, ...callIdWarnings(exchange, reading.message)] : [];
  const { leg, at } = event;
  const arrival = { leg, at, verdict, message, sha256: body.sha256, size: body.bytes.length, warnings };
  const arrived = { ...exchange, arrivals: [...exchange.arrivals, arrival] };
  if (verdict.kind === 'settles' && reading.ok && reading.message.type === 'tool_result')
    return settle(arrived, {
      by: 'result',
      at,
      result: reading.message,
      native: reading.native,
      sha256: body.sha256,
    });
  if (verdict.kind === 'holds' && (message?.type === 'oauth' || message?.type === 'user_choice'))
    return { ...arrived, waitingFor: message };
  return arrived;
}

function onResponse(exchange: Exchange, event: ResponseEvent): Exchange {
  const excerpt = event.body ? { excerpt: Buffer.from(event.body.bytes).toString('utf8') } : {};
  const size = Number(event.headers['content-length'] ?? 0);
  const answered = withAttempt(exchange, event.leg, {
    endedAt: event.at,
    status: event.status,
    ...(size > 0 && { bodySize: size }),
    ...excerpt,
  });
  return answered === exchange ? withAnswer(exchange, event) : answered;
}

function onDecision(exchange: Exchange, event: Extract<Event, { kind: 'decided' }>): Exchange {
  if (event.what === 'choice') return { ...exchange, waitingFor: null };
  if (event.what === 'cancel') return settle(exchange, { by: 'cancel', at: event.at, who: event.by });
  return settle(exchange, dispatchFailure(exchange, event.at));
}

function dispatchFailure({ attempts }: Exchange, at: number): Settlement {
  const last = attempts.at(-1);
  if (last?.status !== undefined)
    return { by: 'refusal', at, status: last.status, excerpt: last.excerpt ?? '' };
  return {
    by: 'unreachable',
    at,
    phase: 'connect',
    code: 'UNKNOWN',
    ...last?.broken,
    attempts: attempts.length,
  };
}

function settle(exchange: Exchange, settled: Settlement): Exchange {
  return exchange.settled ? exchange : { ...exchange, settled, waitingFor: null };
}

function withAttempt(exchange: Exchange, leg: string, change: Partial<Attempt>): Exchange {
  if (!exchange.attempts.some(attempt => attempt.leg === leg)) return exchange;
  return {
    ...exchange,
    attempts: exchange.attempts.map(each => (each.leg === leg ? { ...each, ...change } : each)),
  };
}

function withAnswer(exchange: Exchange, { leg, at, status, refusal }: ResponseEvent): Exchange {
  const { arrivals } = exchange;
  if (refusal !== undefined)
    return { ...exchange, arrivals: [...arrivals, refused(leg, at, status, refusal)] };
  if (!arrivals.some(arrival => arrival.leg === leg)) return exchange;
  return { ...exchange, arrivals: arrivals.map(each => (each.leg === leg ? { ...each, status } : each)) };
}

/** The listener's guard turned it away before its body counted. */
function refused(leg: string, at: number, status: number, reason: string): Arrival {
  const verdict = { kind: 'rejected', status, reason } as const;
  return { leg, at, verdict, message: null, sha256: '', size: 0, warnings: [], status };
}

function callIdWarnings({ invocation }: Exchange, message: object): Warning[] {
  const given = invocation.call_id ?? null;
  const came = 'call_id' in message ? (message.call_id ?? null) : null;
  if (!('id' in message) || given === null || came === given) return [];
  return [
    {
      id: 'TOOL-CALLID',
      message: `call_id came back as ${JSON.stringify(came)}, it was ${JSON.stringify(given)}`,
    },
  ];
}
