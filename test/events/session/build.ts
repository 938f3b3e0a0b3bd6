import { Content } from '../../../src/events/content.js';
import type { Event } from '../../../src/events/events.js';
import { Sessions } from '../../../src/events/session-calls.js';
import { eventsOf, type Moment } from '../build.js';

/* Builds short agent sessions, as `../build.ts` builds calls. */

export const SESSION = 'session_1';
export const BASE = 'http://127.0.0.1:4000/api/v2/sessions';
const thread = SESSION;

type Pending = Extract<Moment, { kind: 'awaiting' }>['pending'][number];

export const LOOKUP: Pending = {
  key: 'call_1',
  tool_name: 'lookup_order',
  args: { order_id: 'A1' },
  id: 'call_1',
};
export const NAMELESS: Pending = { key: '#1', tool_name: 'lookup_order', args: {}, id: null };

export const status = (
  value: string,
  more: { error?: string; answer?: unknown } = {},
  id = thread,
): Moment[] => [{ kind: 'session', status: value, thread: id, ...more }];

export const awaiting = (
  pending: Pending[],
  { round, id = thread }: { round?: number; id?: string } = {},
): Moment[] => [
  {
    kind: 'awaiting',
    pending,
    thread: id,
    calls: pending.map(({ key }) => key),
    ...(round !== undefined && { round }),
  },
];

export function result(call: Pending, value: unknown): object {
  return { kind: 'tool_result', tool_req: requestOf(call), result: value };
}

export function failure(call: Pending, error: string, origin = 'custom_tools'): object {
  return { kind: 'error_event', error, origin, tool_req: requestOf(call) };
}

const requestOf = ({ tool_name, args, id }: Pending) => ({ tool_name, args, id });

export const answered = (
  call: Pending,
  body: unknown,
  by: 'client' | 'platform' = 'client',
  id = thread,
  unexpected: readonly string[] = [],
): Moment[] => [
  {
    kind: 'answered',
    by,
    thread: id,
    calls: [call.key],
    body: Content.ofJson(body),
    ...(unexpected.length > 0 && { unexpected: [...unexpected] }),
  },
];

/** A post of results. */
export function posts(calls: Pending[], { leg = 'post-1', attempt = 1, id = thread } = {}): Moment[] {
  return asks('tool_results', { leg, attempt, id, keys: calls.map(({ key }) => key) });
}

export function asks(
  purpose: 'tool_results' | 'changes' | 'session' | 'message',
  {
    leg = `${purpose}-1`,
    attempt = 1,
    id = thread,
    keys = [] as string[],
    method = purpose === 'tool_results' || purpose === 'message' ? 'POST' : 'GET',
    path = `/${purpose}?from_index=0`,
  } = {},
): Moment[] {
  return [
    {
      kind: 'request',
      leg,
      from: 'client',
      to: 'platform',
      purpose,
      dialect: 'session',
      method,
      url: `${BASE}/${id}${path}`,
      headers: { authorization: '[redacted]' },
      attempt,
      thread: id,
      ...(keys.length > 0 && { calls: keys }),
    },
  ];
}

export const answers = (
  code: number,
  { leg = 'post-1', body = {} as unknown, id = thread } = {},
): Moment[] => [
  {
    kind: 'response',
    leg,
    status: code,
    headers: {},
    thread: id,
    ...(code === 202 ? {} : { body: Content.ofJson(body) }),
  },
];

export const breaks = (code = 'ECONNRESET', { leg = 'post-1', id = thread } = {}): Moment[] => [
  { kind: 'broken', leg, phase: 'answer', code, thread: id },
];

export const warned = (message: string): Moment[] => [{ kind: 'warned', message, thread }];

export function foldSessions(
  events: Iterable<Event>,
  limits?: ConstructorParameters<typeof Sessions>[0],
): Sessions {
  const sessions = new Sessions(limits);
  for (const event of events) sessions.apply(event);
  return sessions;
}

export const sessionsOf = (...parts: readonly (readonly Moment[])[]): Sessions =>
  foldSessions(eventsOf(...parts));

/** A whole session, recorded by its client: two calls, one of them without an id. */
export const CLIENT_SESSION: readonly (readonly Moment[])[] = [
  status('running'),
  status('awaiting_tool_results'),
  awaiting([LOOKUP, NAMELESS]),
  answered(LOOKUP, result(LOOKUP, 'shipped')),
  answered(NAMELESS, failure(NAMELESS, 'Order not found')),
  posts([LOOKUP, NAMELESS]),
  answers(202),
  status('running'),
  status('completed', { answer: 'Your order is shipped' }),
];
