import { Content } from '../../src/events/content.js';
import type { Event, Fact } from '../../src/events/events.js';
import type { Exchange } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';
import type { Invocation } from '../../src/protocol/invocation.js';

/*
 * Builds lists of events: `historyOf(call(), at(3, acknowledged()), at(1_203, resultArrives()))`.
 * A fact without a time happens one millisecond after the previous one.
 */

export type Moment = Fact & { readonly at?: number };

export const KEY = 'call_abc123';

export const THREAD = 'thread_xyz';

export const ENDPOINT = 'http://127.0.0.1:3001/invoke';

export const INVOCATION: Invocation = {
  operation: 'edit_file',
  arguments: { path: 'src/main.rs' },
  id: KEY,
  call_id: null,
  callback_url: 'http://127.0.0.1:4000/callback/token',
  group_id: THREAD,
};

export const RESULT = { type: 'tool_result', group_id: THREAD, id: KEY, text: 'done' };

export const OAUTH = { type: 'oauth', group_id: THREAD, id: KEY, auth_url: 'https://auth.example/consent' };

export const CHOICE = {
  type: 'user_choice',
  group_id: THREAD,
  id: KEY,
  prompt: 'Where to?',
  choices: ['staging', 'production'],
  default: 0,
  response_url: 'http://127.0.0.1:3001/choices/1',
};

export const EVENT = { type: 'subscription_event', group_id: THREAD, tool_call_id: KEY, text: 'opened' };

export const VIEW = { type: 'view_update', group_id: THREAD, view_type: 'diff', content: { patch: '' } };

const calls = [KEY];

const json = { 'content-type': 'application/json' };

/** One dispatch of the invocation. */
export function call({
  attempt = 1,
  invocation = INVOCATION,
}: {
  attempt?: number;
  invocation?: object;
} = {}): Moment[] {
  return [
    {
      kind: 'request',
      leg: `try-${attempt}`,
      from: 'runtime',
      to: 'tool',
      purpose: 'invocation',
      method: 'POST',
      url: ENDPOINT,
      headers: json,
      attempt,
      calls,
      thread: THREAD,
      body: Content.ofJson(invocation),
    },
  ];
}

/** The response to a dispatch: an acknowledgement if it is 200. */
export function answered(status: number, { attempt = 1, body = '' } = {}): Moment[] {
  const said = body === '' ? {} : { body: new Content(Buffer.from(body)) };
  return [{ kind: 'response', leg: `try-${attempt}`, status, headers: {}, calls, ...said }];
}

export const acknowledged = () => answered(200);

/** A dispatch without a response. */
export function lost(code = 'ECONNREFUSED', { attempt = 1, phase = 'connect' } = {}): Moment[] {
  return [{ kind: 'broken', leg: `try-${attempt}`, phase, code, calls }];
}

/** A placeholder for the status that this program responds with. */
const OURS = 0;

/** A post to the call's callback URL, and the response: by this program unless there is a status. */
export function bytesArrive(bytes: Uint8Array, { leg = 'back-1', status = OURS } = {}): Moment[] {
  return [
    {
      kind: 'request',
      leg,
      from: 'tool',
      to: 'runtime',
      purpose: 'callback',
      method: 'POST',
      url: '/callback/token',
      headers: json,
      attempt: 1,
      calls,
      thread: THREAD,
      body: new Content(bytes),
    },
    { kind: 'response', leg, status, headers: {}, calls },
  ];
}

export function arrives(message: unknown, how: { leg?: string; status?: number } = {}): Moment[] {
  return bytesArrive(Buffer.from(JSON.stringify(message)), how);
}

export function resultArrives(fields: object = {}, how: { leg?: string; status?: number } = {}): Moment[] {
  return arrives({ ...RESULT, ...fields }, how);
}

/** A post that the listener's guard refused; without `to` it belongs to no call. */
export function refused(refusal: string, status: number, { leg = 'stray-1', to = '' } = {}): Moment[] {
  const concerns = to === '' ? {} : { calls: [to] };
  return [
    {
      kind: 'request',
      leg,
      from: 'tool',
      to: 'runtime',
      purpose: 'callback',
      method: 'POST',
      url: '/callback/wrong',
      headers: {},
      attempt: 1,
      ...concerns,
    },
    { kind: 'response', leg, status, headers: {}, refusal, ...concerns },
  ];
}

export function loaded(
  fields: { base?: string | null; operations?: string[]; displayScripts?: Record<string, string> } = {},
): Moment[] {
  const about = {
    base: 'http://127.0.0.1:3001',
    endpoint: ENDPOINT,
    toolset: 'demo',
    operations: ['edit_file'],
  };
  return [{ kind: 'loaded', ...about, ...fields }];
}

/** A discovery or a notice, and the response; `null` for a broken connection. */
export function untrackedRequest(
  purpose: 'discovery' | 'close' | 'cancel' | 'choice',
  status: number | null = 200,
): Moment[] {
  const leg = `untrackedRequest-${purpose}`;
  const about = { from: 'runtime', to: 'tool', method: 'POST', headers: {}, attempt: 1 } as const;
  return [
    { kind: 'request', leg, purpose, url: `http://127.0.0.1:3001/${purpose}`, ...about },
    status === null
      ? { kind: 'broken', leg, phase: 'connect', code: 'ECONNREFUSED' }
      : { kind: 'response', leg, status, headers: {} },
  ];
}

export const gaveUp = (): Moment[] => [{ kind: 'decided', what: 'give-up', by: 'policy', calls }];

/** A selection; without the leg of a question it answers the oldest one. */
export const chose = (value: number, question?: string): Moment[] => [
  { kind: 'decided', what: 'choice', by: 'flag', value, calls, ...(question !== undefined && { question }) },
];

export const consented = (): Moment[] => [{ kind: 'decided', what: 'consent', by: 'person', calls }];

export const canceled = (by: 'person' | 'flag' | 'policy' = 'person'): Moment[] => [
  { kind: 'decided', what: 'cancel', by, calls },
];

/** An invocation that is not sent. */
export const denied = (by: 'person' | 'policy' = 'policy', reason = 'not here'): Moment[] => [
  { kind: 'denied', by, tool: 'edit_file', reason, calls, thread: THREAD, body: Content.ofJson(INVOCATION) },
];

/** An invocation that another program sends. */
export const expected = (): Moment[] => [
  { kind: 'expected', calls, thread: THREAD, body: Content.ofJson(INVOCATION) },
];

/** The notice that closes a thread, and the response. */
export const closed = (thread = THREAD): Moment[] =>
  untrackedRequest('close').map(moment => (moment.kind === 'request' ? { ...moment, thread } : moment));

export const timedOut = (afterMs = 60_000): Moment[] => [
  { kind: 'expired', what: 'timeout', afterMs, calls },
];

export const lingered = (afterMs = 500): Moment[] => [{ kind: 'expired', what: 'linger', afterMs }];

/** Sets the time of the moments, in ms since the start. */
export function at(milliseconds: number, moments: readonly Moment[]): Moment[] {
  return moments.map(moment => ({ ...moment, at: milliseconds }));
}

/** The same, seen by a check that could not run for `stalled` of these milliseconds. */
export function stalledAt(milliseconds: number, stalled: number, moments: readonly Moment[]): Moment[] {
  return moments.map(moment => ({ ...moment, at: milliseconds, stalled }));
}

function eventsWithHistory(parts: readonly (readonly Moment[])[]): {
  readonly events: Event[];
  readonly history: History;
} {
  let now = -1;
  const history = new History();
  const events = parts.flat().map((moment, seq): Event => {
    now = moment.at ?? now + 1;
    const event = answeredByUs({ ...moment, seq, at: now }, history);
    history.apply(event);
    return event;
  });
  return { events, history };
}

export const eventsOf = (...parts: readonly (readonly Moment[])[]): Event[] =>
  eventsWithHistory(parts).events;

function answeredByUs(event: Event, { exchanges }: History): Event {
  if (event.kind !== 'response' || event.status !== OURS) return event;
  const { arrivals = [] } = exchanges.get(event.calls?.[0] ?? '') ?? {};
  return { ...event, status: arrivals.findLast(({ leg }) => leg === event.leg)?.verdict.status ?? 200 };
}

export function fold(events: Iterable<Event>): History {
  const history = new History();
  for (const event of events) history.apply(event);
  return history;
}

export const historyOf = (...parts: readonly (readonly Moment[])[]): History =>
  eventsWithHistory(parts).history;

/** The exchange of the only call. */
export function exchangeOf(...parts: readonly (readonly Moment[])[]): Exchange {
  const { first } = historyOf(...parts);
  if (!first) throw new Error('there is no call');
  return first;
}
