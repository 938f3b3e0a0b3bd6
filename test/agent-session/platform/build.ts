import { readResults } from '../../../src/agent-session/platform/posted-results.js';
import { Session } from '../../../src/agent-session/platform/session.js';
import type { Fact } from '../../../src/events/events.js';
import { createLog } from '../../../src/events/log.js';
import { parseSessionScript } from '../../../src/fixtures/session-script.js';

export const AT = '2026-01-01T00:00:00.000Z';

/** The calls of two rounds, with and without ids; what they say in the end is the results of the first. */
export const TWO_ROUNDS = {
  rounds: [
    {
      calls: [
        { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' },
        { tool_name: 'lookup_order', args: { order_id: 'A2' }, id: null },
        { tool_name: 'lookup_order', args: { order_id: 'A2' }, id: null },
      ],
    },
    { calls: [{ tool_name: 'lookup_parcel', args: { parcel: '{{results.call_1}}' }, id: 'call_2' }] },
  ],
  answer: 'It is {{results.call_2}}',
};

export function script(session: object, switches?: object) {
  return parseSessionScript({ version: 1, session, ...(switches && { switches }) });
}

/** A session that has begun, and what it emitted. */
export function begun(sessionScript: object = TWO_ROUNDS, switches?: object) {
  const log = createLog(() => 0);
  const facts: Fact[] = [];
  log.subscribe(event => facts.push(event));
  const session = new Session('s', script(sessionScript, switches), log, { wall: () => new Date(AT) });
  session.start();
  const judge = (body: unknown) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    try {
      const { settles, warnings, details } = readResults(bytes, session);
      return { status: details.length > 0 ? 422 : 202, settles, warnings, details };
    } catch (error) {
      const { status, why: details } = error as { status: number; why: unknown[] };
      return { status, settles: [], warnings: [], details };
    }
  };
  /** Applies what is accepted; `facts` are those of this post. */
  const post = (body: unknown) => {
    const judgement = judge(body);
    const before = facts.length;
    session.settle(judgement.settles);
    return { ...judgement, facts: facts.slice(before) };
  };
  return { session, facts, judge, post };
}

const REQUESTS = {
  call_1: { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' },
  none: { tool_name: 'lookup_order', args: { order_id: 'A2' }, id: null },
  call_2: { tool_name: 'lookup_parcel', args: { parcel: 'shipped' }, id: 'call_2' },
  unknown: { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_9' },
} as const;

/** Whatever a client may post for a call, by its name here. */
export function toolResult(call: keyof typeof REQUESTS, more: object = { result: 'shipped' }) {
  return { kind: 'tool_result', tool_req: { ...REQUESTS[call] }, ...more };
}

export function errorEvent(call: keyof typeof REQUESTS, more: object = {}) {
  return {
    kind: 'error_event',
    error: 'no',
    origin: 'custom_tools',
    tool_req: { ...REQUESTS[call] },
    ...more,
  };
}

export function batch(...results: unknown[]) {
  return { type: 'batch', results };
}
