import { Content } from '../../src/events/content.js';
import type { Event, Fact } from '../../src/events/events.js';
import type { VerificationReport } from '../../src/verification/report.js';
import { Verification } from '../../src/verification/verification.js';

/*
 * Builds the log of a mock run: `verified(invoked('a'), matched('a', 'pay'), delivered('a'))`.
 * A call's key is also its `id`.
 */

export const FIXTURES = [{ id: 'pay', place: 'tool.yaml:3' }];

export function verified(...parts: readonly (readonly Fact[])[]): VerificationReport {
  const verification = new Verification(FIXTURES);
  applyFacts(verification, ...parts);
  return verification.report();
}

export function applyFacts(verification: Verification, ...parts: readonly (readonly Fact[])[]): void {
  for (const [seq, fact] of parts.flat().entries()) {
    const event: Event = { ...fact, seq, at: seq };
    verification.apply(event);
  }
}

const THREAD = 'thread_a';
const on = (key: string) => ({ calls: [key], thread: THREAD });
let legs = 0;

/** An invocation and its acknowledgement; `broken` if no acknowledgement was sent. */
export function invoked(
  key: string,
  { status = 200 as number | 'broken', fields = {}, attempt = 1 } = {},
): Fact[] {
  const body = {
    operation: 'pay',
    arguments: {},
    id: key,
    group_id: THREAD,
    callback_url: `http://127.0.0.1:9/cb/${key}?token=canary`,
    ...fields,
  };
  const leg = `in-${++legs}`;
  const answer: Fact =
    status === 'broken'
      ? { kind: 'broken', leg, phase: 'answer', code: 'PLANNED', ...on(key) }
      : { kind: 'response', leg, status, headers: {}, ...on(key) };
  return [request(leg, 'invocation', on(key), Content.ofJson(body), attempt), answer];
}

/** An invocation without a readable callback URL. */
export function nameless(bytes: string): Fact[] {
  return [
    request('in-0', 'invocation', {}, new Content(Buffer.from(bytes))),
    { kind: 'dropped', what: 'invocation', why: 'malformed', count: 1 },
    { kind: 'response', leg: 'in-0', status: 200, headers: {} },
  ];
}

export const matched = (key: string, fixture: string | null, more: object = {}): Fact[] => [
  { kind: 'matched', fixture, ...on(key), ...more },
];
export const planned = (key: string, plan: string, by: 'fixture' | 'fault' = 'fault'): Fact[] => [
  { kind: 'planned', by, plan, ...on(key) },
];
export const dropped = (key: string, why: string): Fact[] => [
  { kind: 'dropped', what: 'callback', why, count: 1, ...on(key) },
];
export const cancelNotice = (key: string): Fact[] => [request('cancel', 'cancel', on(key))];
export const closeNotice = (thread = THREAD): Fact[] => [request('close', 'close', { thread })];

/** The user's answer to a question, and the response. */
export function chosen(key: string, status = 200, why?: string): Fact[] {
  const leg = `choice-${++legs}`;
  const body = why === undefined ? undefined : new Content(Buffer.from(why));
  return [
    request(leg, 'choice', on(key)),
    { kind: 'response', leg, status, headers: {}, ...on(key), ...(body && { body }) },
  ];
}

/** One attempt of a callback, and the response. */
export function posted(key: string, status: number | 'broken', message: object = {}): Fact[] {
  const leg = `out-${++legs}`;
  const body = Content.ofJson({ type: 'tool_result', group_id: THREAD, id: key, text: 'done', ...message });
  const answer: Fact =
    status === 'broken'
      ? { kind: 'broken', leg, phase: 'connect', code: 'ECONNREFUSED', ...on(key) }
      : { kind: 'response', leg, status, headers: {}, ...on(key) };
  return [request(leg, 'callback', on(key), body), answer];
}

export const delivered = (key: string, message: object = {}): Fact[] => posted(key, 200, message);

function request(
  leg: string,
  purpose: 'invocation' | 'callback' | 'cancel' | 'close' | 'choice',
  about: { readonly calls?: string[]; readonly thread?: string },
  body?: Content,
  attempt = 1,
): Fact {
  const [from, to] = purpose === 'callback' ? (['tool', 'runtime'] as const) : (['runtime', 'tool'] as const);
  const what = {
    kind: 'request',
    leg,
    from,
    to,
    purpose,
    method: 'POST',
    url: '/',
    headers: {},
    attempt,
  } as const;
  return { ...what, ...about, ...(body && { body }) };
}
