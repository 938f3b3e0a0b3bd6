import { elicitationSchema, progressSchema, questionOf, readCallback } from '../protocol/callbacks.js';
import type { Warning } from '../protocol/requirements.js';
import { validate } from '../protocol/validate.js';
import { excerpt } from '../util/excerpt.js';
import { withoutSurplus } from './bounded-events.js';
import type { Content } from './content.js';
import type { Event, InvocationEvent, RequestEvent, ResponseEvent } from './events.js';
import type { Arrival, Attempt, Exchange, Settlement, SubscriptionEnd } from './exchange.js';
import { judge, judgeQuestion, rejection } from './judge-callback.js';
import { readMcpAnswer } from './mcp-answer.js';
import { invocationOf, isOnMcp, withDecision, withQuestion } from './questions.js';

/** A callback at the URL of a call, judged; `native` is the message as it came, where it could be read. */
function arrivalOf(
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
function withArrival(exchange: Exchange, arrival: Arrival): Exchange {
  return withoutSurplus({ ...exchange, arrivals: [...exchange.arrivals, arrival] });
}

/** What the listener answered; a refusal by its guard is an arrival of its own. */
function withAnswer(exchange: Exchange, { leg, at, status, refusal }: ResponseEvent): Exchange {
  if (refusal !== undefined) return withArrival(exchange, refused(leg, at, status, refusal));
  return withArrivalEnd(exchange, leg, { status });
}

/** What became of a callback. */
function withArrivalEnd(exchange: Exchange, leg: string, end: Pick<Arrival, 'status' | 'broken'>): Exchange {
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

/** What an MCP server sends to the client during a call: progress, or a form to fill in. */
function mcpArrivalOf(exchange: Exchange, { leg, at, method }: RequestEvent, body: Content): Arrival {
  const { sha256, size } = body;
  const about = { leg, at, sha256, size, message: null, warnings: [] };
  const value = body.json.ok ? body.json.value : undefined;
  if (method === 'elicitation/create') {
    const form = validate(elicitationSchema, value);
    if (!form.ok) return { ...about, verdict: rejection(form.faults) };
    const { group_id: group, id } = exchange.invocation;
    const verdict = judgeQuestion(exchange, leg); // the same form can come twice: each is a question
    return { ...about, verdict, message: questionOf(form.value, { group, id }) };
  }
  const progress = validate(progressSchema, value);
  if (!progress.ok) return { ...about, verdict: rejection(progress.faults) };
  return { ...about, verdict: { kind: 'noted', status: 200 }, progress: progress.value };
}

/** Starts an exchange from an invocation, sent or not; null if the event is not a readable invocation. */
export function begin(key: string, event: InvocationEvent): Exchange | null {
  if (event.kind === 'request' && event.purpose !== 'invocation') return null;
  const invocation = invocationOf(event);
  if (!invocation) return null;
  return {
    key,
    ...(isOnMcp(event) && { dialect: 'mcp' }),
    invocation,
    endpoint: event.kind === 'request' ? event.url : '',
    attempts: [],
    arrivals: [],
    forgotten: 0,
    remembered: new Set(),
    questions: [],
    waitingFor: null,
    selections: [],
    settled: null,
    subscription: null,
  };
}

/** What an exchange is after one more event. Pure: the same events give the same exchange, live or read from a file. */
export function step(exchange: Exchange, event: Event, redact: (text: string) => string): Exchange {
  switch (event.kind) {
    case 'request':
      return onRequest(exchange, event);
    case 'response':
      return onResponse(exchange, event, redact);
    case 'broken':
      return onBroken(exchange, event);
    case 'expired':
      if (event.what !== 'timeout') return exchange;
      return settle(exchange, { by: 'timeout', at: event.at, afterMs: event.afterMs });
    case 'denied': {
      const { at, by: who, tool, reason } = event;
      return settle(exchange, { by: 'denial', at, who, tool, reason });
    }
    case 'decided':
      return onDecision(exchange, event);
    default:
      return exchange;
  }
}

function onRequest(exchange: Exchange, event: RequestEvent): Exchange {
  const { purpose, leg, at, body } = event;
  if (purpose === 'invocation') return sentOnceMore(exchange, { leg, sentAt: at });
  if (purpose === 'close') return unsubscribe(exchange, { by: 'close', at });
  // A recorded runtime does not say who decided; our own does, before it sends the notice.
  if (purpose === 'cancel') return canceled(exchange, at, 'person');
  if (purpose !== 'callback' || !body) return exchange; // without a body it was refused: its answer says why
  return onCallback(exchange, event, body);
}

/** Attempts that are kept: an id that is used for thousands of calls looks like one call that is sent again and again. */
const MOST_ATTEMPTS = 1_000;

/** Beyond the limit the second oldest attempt is dropped: the first one says when the call began. */
function sentOnceMore(exchange: Exchange, attempt: Attempt): Exchange {
  const { attempts } = exchange;
  const kept = attempts.length < MOST_ATTEMPTS ? attempts : attempts.toSpliced(1, 1);
  return { ...exchange, attempts: [...kept, attempt] };
}

function onCallback(exchange: Exchange, event: RequestEvent, body: Content): Exchange {
  const { arrival, native } =
    event.dialect === 'mcp'
      ? { arrival: mcpArrivalOf(exchange, event, body), native: null }
      : arrivalOf(exchange, event, body);
  const arrived = withArrival(exchange, arrival);
  switch (arrival.verdict.kind) {
    case 'settles':
      return onResult(arrived, arrival, native);
    case 'holds':
      return withQuestion(arrived, arrival);
    case 'noted':
      return onNews(arrived, arrival);
    default:
      return arrived;
  }
}

function onResult(exchange: Exchange, { at, message, sha256 }: Arrival, native: unknown): Exchange {
  if (message?.type !== 'tool_result') return exchange;
  const settled = settle(exchange, { by: 'result', at, result: message, native, sha256 });
  if (!message.subscription) return settled;
  return { ...settled, subscription: { openedAt: at, events: 0, ended: null } };
}

function onNews(exchange: Exchange, { at, message, sha256 }: Arrival): Exchange {
  const { subscription } = exchange;
  if (message?.type !== 'subscription_event' || !subscription) return exchange;
  const counted = { ...exchange, subscription: { ...subscription, events: subscription.events + 1 } };
  return message.final ? unsubscribe(counted, { by: 'final', at, sha256 }) : counted;
}

function onResponse(exchange: Exchange, event: ResponseEvent, redact: (text: string) => string): Exchange {
  const isRefusal = event.status !== 200;
  const said = event.body && isRefusal ? Buffer.from(event.body.bytes).toString('utf8') : null;
  const excerpt = said === null ? {} : { excerpt: redact(said) };
  const size = bodySize(event);
  const answered = withAttempt(exchange, event.leg, {
    endedAt: event.at,
    status: event.status,
    ...(size > 0 && { bodySize: size }),
    ...excerpt,
  });
  if (answered === exchange) return withAnswer(exchange, event);
  return exchange.dialect === 'mcp' && event.status === 200 ? onMcpAnswer(answered, event) : answered;
}

function onBroken(
  exchange: Exchange,
  { leg, at, phase, code }: Extract<Event, { kind: 'broken' }>,
): Exchange {
  const known = withAttempt(exchange, leg, { endedAt: at, broken: { phase, code } });
  return known === exchange ? withArrivalEnd(exchange, leg, { broken: code }) : known;
}

/** As many bytes as it said, of which there may be only the beginning; or else as many as there are. */
function bodySize({ headers, body }: ResponseEvent): number {
  return Number(headers['content-length'] ?? body?.size ?? 0);
}

/** An MCP response contains the result. */
function onMcpAnswer(exchange: Exchange, { at, body }: ResponseEvent): Exchange {
  const json = body?.json ?? { ok: false, reason: 'it is empty' };
  return settle(exchange, { by: 'answer', at, ...readMcpAnswer(json) });
}

function onDecision(exchange: Exchange, event: Extract<Event, { kind: 'decided' }>): Exchange {
  const { what, by: who, at } = event;
  if (what === 'choice' || what === 'consent') return withDecision(exchange, what, event);
  if (what === 'give-up') return settle(exchange, dispatchFailure(exchange, at, event.value));
  return canceled(exchange, at, who);
}

function canceled(exchange: Exchange, at: number, who: 'person' | 'flag' | 'policy'): Exchange {
  const end = { by: 'cancel', at, who } as const;
  return unsubscribe(settle(exchange, end), end);
}

/** @param reason why it was given up, where that was not the answer to the dispatch */
function dispatchFailure({ attempts }: Exchange, at: number, reason?: string | number): Settlement {
  const last = attempts.at(-1);
  if (typeof reason === 'string')
    return { by: 'unreachable', at, phase: 'answer', code: 'EXITED', attempts: attempts.length, reason };
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

/** Only the first end counts. */
function unsubscribe(exchange: Exchange, ended: SubscriptionEnd): Exchange {
  const { subscription } = exchange;
  if (!subscription || subscription.ended) return exchange;
  return { ...exchange, subscription: { ...subscription, ended } };
}

function withAttempt(exchange: Exchange, leg: string, change: Partial<Attempt>): Exchange {
  const { attempts } = exchange;
  const index = attempts.findLastIndex(attempt => attempt.leg === leg);
  const attempt = attempts[index];
  return attempt ? { ...exchange, attempts: attempts.with(index, { ...attempt, ...change }) } : exchange;
}
