import { isOutcomeInAcknowledgement } from '../protocol/acknowledgement.js';
import { type Callback, isQuestion, readCallback } from '../protocol/callbacks.js';
import { type Invocation, invocationSchema, mcpCallSchema } from '../protocol/invocation.js';
import { elicitationSchema, progressSchema, questionOf } from '../protocol/mcp.js';
import type { Warning } from '../protocol/requirements.js';
import { validate } from '../protocol/validate.js';
import { LIMITS } from '../util/limits.js';
import { excerpt } from '../util/text.js';
import { readMcpAnswer } from './answer.js';
import {
  type Body,
  type Event,
  type EventOf,
  ignored,
  type RequestEvent,
  type ResponseEvent,
} from './events.js';
import {
  type Arrival,
  type Attempt,
  CANCEL_GRACE_MS,
  type Exchange,
  isSentAfterCancel,
  openChoices,
  openQuestions,
  type Settlement,
  type SubscriptionEnd,
} from './exchange.js';
import { judgeCallback, judgeQuestion, mayRepeat, rejection } from './judge-callback.js';
import { refusalTexts } from './refusal.js';

/**
 * Applies one event. Returns undefined until a readable invocation (sent, expected or denied) begins the exchange. Pure: the same events
 * give the same exchange, live or from a file.
 * @param redact for refusals, which our texts quote
 */
export function foldExchange(
  key: string,
  known: Exchange | undefined,
  event: Event,
  redact: (text: string) => string,
): Exchange | undefined {
  const exchange = known ?? begin(key, event);
  return exchange && step(exchange, event, redact);
}

function begin(key: string, event: Event): Exchange | undefined {
  const isInvocation = event.kind === 'request' && event.purpose === 'invocation';
  if (!isInvocation && event.kind !== 'expected' && event.kind !== 'denied') return undefined;
  const isMcp = event.kind !== 'expected' && event.dialect === 'mcp';
  const json = event.body?.json;
  const read = (isMcp ? mcpCallSchema : invocationSchema).safeParse(json?.ok ? json.value : undefined);
  if (!read.success) return undefined;
  return {
    key,
    ...(isMcp && { dialect: 'mcp' }),
    invocation: read.data,
    endpoint: event.kind === 'request' ? event.url : '',
    attempts: [],
    arrivals: [],
    forgotten: 0,
    remembered: new Set(),
    misdirected: 0,
    questions: [],
    waitingFor: null,
    selections: [],
    settled: null,
    subscription: null,
    cancelLegs: [],
    cancelAcknowledgedAt: null,
  };
}

function step(exchange: Exchange, event: Event, redact: (text: string) => string): Exchange {
  switch (event.kind) {
    case 'request':
      return onRequest(exchange, event);
    case 'response':
      return onResponse(exchange, event, redact);
    case 'broken': {
      const { leg, at, phase, code } = event;
      const attempted = withAttempt(exchange, leg, { endedAt: at, broken: { phase, code } });
      return attempted ?? withArrivalEnd(exchange, leg, { broken: code });
    }
    case 'expired':
      if (event.what !== 'timeout') return exchange;
      return settle(exchange, { by: 'timeout', at: event.at, afterMs: event.afterMs });
    case 'denied': {
      const { at, by: who, tool, reason } = event;
      return settle(exchange, { by: 'denial', at, who, tool, reason });
    }
    case 'decided':
      return onDecision(exchange, event);
    case 'exited': {
      const { at, message: reason, output } = event;
      const { length: attempts } = exchange.attempts;
      return settle(exchange, { by: 'unreachable', at, ...EXITED, attempts, reason, output });
    }
    default:
      ignored<
        | 'expected'
        | 'answered'
        | 'loaded'
        | 'matched'
        | 'shaped'
        | 'planned'
        | 'warned'
        | 'session'
        | 'awaiting'
        | 'dropped'
        | 'driver'
      >(event);
      return exchange;
  }
}

function onRequest(exchange: Exchange, event: RequestEvent): Exchange {
  const { purpose, leg, at, body } = event;
  switch (purpose) {
    case 'invocation': {
      const { attempts } = exchange;
      // The first attempt is kept: it has the time at which the call began.
      const kept = attempts.length < LIMITS.eventsOfCall.value ? attempts : attempts.toSpliced(1, 1);
      return { ...exchange, attempts: [...kept, { leg, sentAt: at }] };
    }
    case 'close':
      return unsubscribe(exchange, { by: 'close', at });
    case 'cancel':
      // A recorded runtime does not record who decided; our own does, before it sends the notice.
      return { ...canceled(exchange, at, 'person'), cancelLegs: [...exchange.cancelLegs, leg] };
    case 'callback':
      return body ? onCallback(exchange, event, body) : exchange; // without a body, the response has the reason for the refusal
    default:
      return exchange;
  }
}

function onCallback(exchange: Exchange, event: RequestEvent, body: Body): Exchange {
  const { arrival, native } =
    event.dialect === 'mcp'
      ? { arrival: mcpArrivalOf(exchange, event, body), native: null }
      : arrivalOf(exchange, event, body);
  const arrived = withArrival(exchange, arrival);
  const { message, at, sha256 } = arrival;
  switch (arrival.verdict.kind) {
    case 'settles': {
      if (message?.type !== 'tool_result') return arrived;
      const settled = settle(arrived, { by: 'result', at, result: message, native, sha256 });
      return message.subscription
        ? { ...settled, subscription: { openedAt: at, events: 0, ended: null } }
        : settled;
    }
    case 'holds': {
      if (!isQuestion(message)) return arrived;
      return withQuestions(arrived, [...arrived.questions, { leg: event.leg, message, isAnswered: false }]);
    }
    case 'noted': {
      const { subscription } = arrived;
      if (message?.type !== 'subscription_event' || !subscription) return arrived;
      const counted = { ...arrived, subscription: { ...subscription, events: subscription.events + 1 } };
      return message.final ? unsubscribe(counted, { by: 'final', at, sha256 }) : counted;
    }
    default:
      return arrived;
  }
}

function hasOutcome(body: ResponseEvent['body']): boolean {
  const reading = body?.peekJson();
  return reading?.ok === true && isOutcomeInAcknowledgement(reading.value);
}

function onResponse(exchange: Exchange, event: ResponseEvent, redact: (text: string) => string): Exchange {
  const { leg, at, status, headers, body, refusal } = event;
  const bodySize = Number(headers['content-length'] ?? body?.size ?? 0);
  const said = status === 200 ? '' : refusalTexts(event, exchange.endpoint).join('; ');
  const answered = withAttempt(exchange, leg, {
    endedAt: at,
    status,
    ...(bodySize > 0 && { bodySize }),
    ...(status === 200 && exchange.dialect !== 'mcp' && hasOutcome(body) && { hasOutcome: true }),
    ...(said !== '' && { excerpt: redact(said) }),
  });
  if (answered) {
    if (exchange.dialect !== 'mcp' || status !== 200) return answered;
    const json = body?.json ?? { ok: false, reason: 'it is empty' };
    return settle(answered, { by: 'answer', at, ...readMcpAnswer(json) });
  }
  if (exchange.cancelLegs.includes(leg))
    return status === 200
      ? { ...exchange, cancelAcknowledgedAt: exchange.cancelAcknowledgedAt ?? at }
      : exchange;
  if (refusal === undefined) return withArrivalEnd(exchange, leg, { status });
  const verdict = { kind: 'rejected', status, reason: refusal } as const;
  const refused = { leg, at, verdict, message: null, sha256: '', size: 0, warnings: [], status };
  return withArrival(exchange, refused);
}

function onDecision(exchange: Exchange, event: EventOf<'decided'>): Exchange {
  const { what, by: who, at, value } = event;
  if (what === 'choice' || what === 'consent') return withDecision(exchange, what, event);
  if (what === 'give-up') return settle(exchange, dispatchFailure(exchange, at, value));
  return canceled(exchange, at, who);
}

function canceled(exchange: Exchange, at: number, who: 'person' | 'flag' | 'policy'): Exchange {
  const end = { by: 'cancel', at, who } as const;
  const isUnanswered = who === 'policy' && openChoices(exchange).length > 0;
  return unsubscribe(settle(exchange, isUnanswered ? { ...end, isUnanswered } : end), end);
}

const QUESTION_TYPES = { choice: 'user_choice', consent: 'oauth' } as const;

/** Closes the question that the decision names, or the oldest open one of its type. */
function withDecision(exchange: Exchange, what: 'choice' | 'consent', event: EventOf<'decided'>): Exchange {
  const { at, by, value } = event;
  const index = exchange.questions.findIndex(
    ({ leg, message, isAnswered }) =>
      !isAnswered && message.type === QUESTION_TYPES[what] && leg === (event.question ?? leg),
  );
  const question = exchange.questions[index];
  if (!question) return exchange;
  const answered = withQuestions(exchange, exchange.questions.with(index, { ...question, isAnswered: true }));
  if (what !== 'choice' || typeof value !== 'number') return answered;
  const selection = { at, by, selected: value, question: question.leg };
  return { ...answered, selections: [...exchange.selections, selection] };
}

const EXITED = { phase: 'answer', code: 'EXITED' };

/** @param reason why the dispatch was given up, if not because of its response */
function dispatchFailure({ attempts }: Exchange, at: number, reason?: string | number): Settlement {
  const { length } = attempts;
  const last = attempts.at(-1);
  if (typeof reason === 'string') return { by: 'unreachable', at, ...EXITED, attempts: length, reason };
  if (last?.status !== undefined)
    return { by: 'refusal', at, status: last.status, excerpt: last.excerpt ?? '' };
  const broken = last?.broken ?? { phase: 'connect', code: 'UNKNOWN' };
  return { by: 'unreachable', at, ...broken, attempts: length };
}

/** Only the first settlement counts. */
function settle(exchange: Exchange, settled: Settlement): Exchange {
  return exchange.settled ? exchange : { ...exchange, settled, waitingFor: null };
}

/** Only the first end counts. */
function unsubscribe(exchange: Exchange, ended: SubscriptionEnd): Exchange {
  const { subscription } = exchange;
  if (!subscription || subscription.ended) return exchange;
  return { ...exchange, subscription: { ...subscription, ended } };
}

function withQuestions(exchange: Exchange, questions: Exchange['questions']): Exchange {
  const [first] = openQuestions({ ...exchange, questions });
  return { ...exchange, questions, waitingFor: first?.message ?? null };
}

/** Null if no attempt has this leg. */
function withAttempt(exchange: Exchange, leg: string, change: Partial<Attempt>): Exchange | null {
  const index = exchange.attempts.findLastIndex(attempt => attempt.leg === leg);
  const attempt = exchange.attempts[index];
  return attempt ? { ...exchange, attempts: exchange.attempts.with(index, { ...attempt, ...change }) } : null;
}

function withArrivalEnd(exchange: Exchange, leg: string, end: Pick<Arrival, 'status' | 'broken'>): Exchange {
  const index = exchange.arrivals.findLastIndex(arrival => arrival.leg === leg);
  const arrival = exchange.arrivals[index];
  return arrival
    ? { ...exchange, arrivals: exchange.arrivals.with(index, { ...arrival, ...end }) }
    : exchange;
}

/** A judged callback; `native` is the message as received, if it is a callback. */
function arrivalOf(
  exchange: Exchange,
  { leg, at }: RequestEvent,
  body: Body,
): { readonly arrival: Arrival; readonly native: unknown } {
  const reading = readCallback(body.json);
  const verdict = judgeCallback(exchange, reading, body.sha256);
  const about = { leg, at, verdict, sha256: body.sha256, size: body.size };
  if (!reading.ok) return { arrival: { ...about, message: null, warnings: [] }, native: null };
  const { message, native } = reading;
  const warnings = [
    ...reading.warnings,
    ...callIdWarnings(exchange.invocation, message),
    ...afterCancelWarnings(exchange, message, at),
  ];
  return { arrival: { ...about, message, warnings }, native };
}

function afterCancelWarnings(exchange: Exchange, { type }: Callback, at: number): Warning[] {
  const { cancelAcknowledgedAt, arrivals } = exchange;
  if (type !== 'subscription_event' || cancelAcknowledgedAt === null) return [];
  const answered = arrivals
    .filter(({ message, status = 500 }) => message?.type === type && status < 500)
    .map(arrival => arrival.at);
  if (!isSentAfterCancel(at, cancelAcknowledgedAt, answered)) return [];
  const message = `an event came more than ${CANCEL_GRACE_MS}ms after the cancel was acknowledged; it was ignored`;
  return [{ id: 'TOOL-SUB', message }];
}

/** Only a result must repeat the call_id (seeds 000 and 004); in other callbacks it may be absent. */
function callIdWarnings({ call_id }: Invocation, message: Callback): Warning[] {
  const given = call_id ?? null;
  if (!('id' in message) || given === null) return [];
  const { call_id: came } = message;
  const isAbsent = came === undefined || came === null;
  if (came === given || (isAbsent && message.type !== 'tool_result')) return [];
  const what = typeof came === 'string' ? `came back as ${excerpt(came)}` : 'came back as null';
  const words = came === undefined ? 'did not come back' : what;
  return [{ id: 'TOOL-CALLID', message: `call_id ${words}, it was ${excerpt(given)}` }];
}

/** A message of an MCP server during a call: progress, or a form to fill in. */
function mcpArrivalOf(exchange: Exchange, { leg, at, method }: RequestEvent, body: Body): Arrival {
  const { sha256, size } = body;
  const about = { leg, at, sha256, size, message: null, warnings: [] };
  const value = body.json.ok ? body.json.value : undefined;
  if (method === 'elicitation/create') {
    const form = validate(elicitationSchema, value);
    if (!form.ok) return { ...about, verdict: rejection(form.faults) };
    const { group_id: group, id } = exchange.invocation;
    const verdict = judgeQuestion(exchange, leg); // not its digest, so a form that comes twice does not count as a duplicate
    return { ...about, verdict, message: questionOf(form.value, { group, id }) };
  }
  if (method !== 'notifications/progress')
    return { ...about, verdict: { kind: 'noted', status: 200 }, notification: method };
  const progress = validate(progressSchema, value);
  if (!progress.ok) return { ...about, verdict: rejection(progress.faults) };
  return { ...about, verdict: { kind: 'noted', status: 200 }, progress: progress.value };
}

/** Adds an arrival. Beyond the limits, old ones are dropped down to half, but not the result and open questions. */
function withArrival(exchange: Exchange, arrival: Arrival): Exchange {
  const next = { ...exchange, arrivals: [...exchange.arrivals, arrival] };
  let bytes = 0;
  for (const { size } of exchange.arrivals) bytes += size;
  if (exchange.arrivals.length < LIMITS.eventsOfCall.value && bytes <= LIMITS.keptBytes.value) return next;
  const open = new Set(openQuestions(next).map(({ leg }) => leg));
  const old = exchange.arrivals.filter(
    ({ leg, verdict }) => verdict.kind !== 'settles' && !(verdict.kind === 'holds' && open.has(leg)),
  );
  let { length: count } = old;
  bytes = old.reduce((sum, { size }) => sum + size, 0);
  if (next.arrivals.length <= LIMITS.eventsOfCall.value && bytes <= LIMITS.keptBytes.value) return next;
  const dropped = new Set<Arrival>();
  for (const each of old) {
    if (count <= LIMITS.eventsOfCall.value / 2 && bytes <= LIMITS.keptBytes.value / 2) break;
    dropped.add(each);
    count--;
    bytes -= each.size;
  }
  return without(next, dropped);
}

/** Digests of dropped arrivals are kept to detect duplicates. */
function without(exchange: Exchange, dropped: ReadonlySet<Arrival>): Exchange {
  const legs = new Set<string>();
  const remembered = new Set(exchange.remembered);
  for (const arrival of dropped) {
    legs.add(arrival.leg);
    if (mayRepeat(arrival)) remembered.add(arrival.sha256);
  }
  const shorter = {
    ...exchange,
    arrivals: exchange.arrivals.filter(arrival => !dropped.has(arrival)),
    forgotten: exchange.forgotten + dropped.size,
    remembered: new Set([...remembered].slice(-LIMITS.eventsKept.value)),
    selections: exchange.selections.filter(({ question }) => !legs.has(question)),
  };
  const questions = exchange.questions.filter(({ leg }) => !legs.has(leg));
  return withQuestions(shorter, questions);
}
