import { Content } from '../../../src/events/content.js';
import type { RequestEvent } from '../../../src/events/events.js';
import { ENDPOINT, INVOCATION, type Moment } from '../../events/build.js';

/*
 * Builds events of several calls and their context: `eventsOf(discovery(), a.sent(), a.answered(), a.result())`.
 */

const JSON_TYPE = { 'content-type': 'application/json' };
const BASE = 'http://127.0.0.1:3001';

export const TOOLSET = {
  name: 'demo',
  endpoint: ENDPOINT,
  tools: [
    {
      name: 'edit_file',
      description: 'Replaces text.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ],
};

interface Answering {
  /** Null for a broken connection. */
  readonly status?: number | null;
  readonly body?: string | object;
  readonly headers?: Record<string, string>;
  readonly code?: string;
  readonly phase?: string;
  readonly refusal?: string;
}

interface Posting extends Answering {
  readonly url?: string;
  readonly method?: string;
  readonly type?: string;
}

let legs = 0;

function contentOf(body: string | object | Uint8Array): Content {
  if (body instanceof Uint8Array) return new Content(body);
  return typeof body === 'string' ? new Content(Buffer.from(body)) : Content.ofJson(body);
}

function end(leg: string, about: object, how: Answering): Moment {
  const { status = 200, code = 'ECONNRESET', phase = 'answer', headers = {}, body, refusal } = how;
  if (status === null) return { kind: 'broken', leg, phase, code, ...about };
  return {
    kind: 'response',
    leg,
    status,
    headers,
    ...about,
    ...(body !== undefined && { body: contentOf(body) }),
    ...(refusal !== undefined && { refusal }),
  };
}

function request(purpose: RequestEvent['purpose'], leg: string, fields: object = {}): Moment {
  return {
    kind: 'request',
    leg,
    from: 'runtime',
    to: 'tool',
    purpose,
    method: 'POST',
    url: `${BASE}/${purpose}`,
    headers: JSON_TYPE,
    attempt: 1,
    ...fields,
  };
}

/** The discovery of a toolset. */
export function discovery(toolset: string | object = TOOLSET, how: Answering = {}): Moment[] {
  const leg = `discovery-${++legs}`;
  const url = `${BASE}/.well-known/rap-toolset`;
  return [
    request('discovery', leg, { method: 'GET', url }),
    end(leg, {}, { headers: JSON_TYPE, body: toolset, ...how }),
  ];
}

/** A notice and the response. */
export function notice(
  purpose: 'cancel' | 'close' | 'migrate',
  how: Answering = {},
  { body, ...about }: { readonly calls?: string[]; readonly thread?: string; readonly body?: object } = {},
): Moment[] {
  const leg = `${purpose}-${++legs}`;
  const said = body && { body: Content.ofJson(body) };
  return [request(purpose, leg, { ...about, ...said }), end(leg, about, how)];
}

/** The plan of a probe. */
export function planned(checks: string[], plan = 'a probe'): Moment[] {
  return [{ kind: 'planned', by: 'probe', plan, checks }];
}

/** A callback to a URL that belongs to no call. */
export function stray(message?: object, { method = 'POST' }: Posting = {}): Moment[] {
  const leg = `stray-${++legs}`;
  const about = { from: 'tool', to: 'runtime', url: '/callback/…', headers: {}, method };
  return [
    request('callback', leg, { ...about, ...(message && { body: Content.ofJson(message) }) }),
    end(leg, {}, { status: 404, refusal: 'wrong-address' }),
  ];
}

/** One of several calls, and all events that can happen to it. */
export function someCall(key: string, fields: object = {}) {
  const invocation = {
    ...INVOCATION,
    id: key,
    group_id: `thread_${key}`,
    callback_url: `http://127.0.0.1:4000/callback/token-of-${key}-0123456789`,
    ...fields,
  };
  const thread = invocation.group_id;
  const about = { calls: [key], thread };
  const url = invocation.callback_url.replace(/^http:\/\/[^/]*/, '');
  let sending = '';
  const posts = (body: Uint8Array | string | object | null, how: Posting = {}): Moment[] => {
    const leg = `${key}-${++legs}`;
    const headers = { 'content-type': how.type ?? 'application/json' };
    const { method = 'POST' } = how;
    const head = { from: 'tool', to: 'runtime', method, url: how.url ?? url, headers, ...about };
    const content = body === null ? {} : { body: contentOf(body) };
    return [request('callback', leg, { ...head, ...content }), end(leg, about, { ...how, headers: {} })];
  };
  /** Repeats the invocation at each time. @param body replaces the invocation's body */
  const sent = (body: Uint8Array | string | object = invocation, headers = {}): Moment[] => {
    sending = `${key}-${++legs}`;
    const head = { url: ENDPOINT, headers: { ...JSON_TYPE, ...headers }, ...about };
    return [request('invocation', sending, { ...head, body: contentOf(body) })];
  };
  const answered = (how: Answering = {}): Moment[] => [end(sending, about, how)];
  return {
    invocation,
    sent,
    answered,
    begun: (how: Answering = {}): Moment[] => [...sent(), ...answered(how)],
    posts,
    result: (fields: object = {}, how: Posting = {}): Moment[] =>
      posts({ type: 'tool_result', group_id: thread, id: key, text: 'done', ...fields }, how),
    oauth: (fields: object = {}, how: Posting = {}): Moment[] =>
      posts(
        { type: 'oauth', group_id: thread, id: key, auth_url: 'https://auth.example/?state=1', ...fields },
        how,
      ),
    asks: (fields: object = {}, how: Posting = {}): Moment[] =>
      posts(
        {
          type: 'user_choice',
          group_id: thread,
          id: key,
          prompt: 'Where to?',
          choices: ['here', 'there'],
          default: 0,
          response_url: `${BASE}/choices/1`,
          ...fields,
        },
        how,
      ),
    news: (fields: object = {}, how: Posting = {}): Moment[] =>
      posts(
        { type: 'subscription_event', group_id: thread, tool_call_id: key, text: 'news', ...fields },
        how,
      ),
    selected(how: Answering = {}): Moment[] {
      const leg = `${key}-${++legs}`;
      return [request('choice', leg, about), end(leg, about, how)];
    },
    consented: (): Moment[] => [{ kind: 'decided', what: 'consent', by: 'person', ...about }],
    cancelled: (how: Answering = {}): Moment[] => notice('cancel', how, about),
    closed: (how: Answering = {}): Moment[] => notice('close', how, { thread }),
    /** The wait for a result timed out. */
    waited: (afterMs = 5_000, what: 'timeout' | 'observation' | 'linger' = 'observation'): Moment[] => [
      { kind: 'expired', what, afterMs, calls: [key] },
    ],
    plannedFor: (checks: string[], plan = 'a probe'): Moment[] => [
      { kind: 'planned', by: 'probe', plan, checks, calls: [key] },
    ],
  };
}
