import { describe, expect, test } from 'vitest';
import { BoundedHistory, type HistoryLimits } from '../../../src/commands/listen/bounded-history.js';
import { Content } from '../../../src/events/content.js';
import { History } from '../../../src/events/history.js';
import { createLog } from '../../../src/events/log.js';
import { readCallback } from '../../../src/protocol/callbacks.js';
import { ForeignCalls } from '../../../src/runtime/callback-server.js';

const LIMITS: HistoryLimits = { calls: 10, arrivals: 20, bytes: 100_000 };

/** A listener's bookkeeping without its sockets. */
function open(expected: readonly [string, string][] = []) {
  let now = 0;
  const log = createLog(() => now++);
  const history = new History();
  log.subscribe(event => history.apply(event));
  const calls = new ForeignCalls(log, history, 'http://127.0.0.1:1/callback/x');
  const bounded = new BoundedHistory(history, calls.expected, LIMITS);
  log.subscribe(event => bounded.apply(event));
  for (const [groupId, id] of expected) calls.expect({ groupId, id });
  const about = { kind: 'request', from: 'tool', to: 'runtime', purpose: 'callback' } as const;
  const request = { ...about, method: 'POST', url: '/', headers: {}, attempt: 1 } as const;
  const arrive = (message: { readonly group_id: string } & Readonly<Record<string, unknown>>) => {
    const body = Content.ofJson(message);
    const concerns = { calls: [calls.callOf(readCallback(body.json))?.key ?? ''], thread: message.group_id };
    const leg = log.leg();
    log.emit({ ...request, leg, ...concerns, body });
    log.emit({ kind: 'response', leg, status: 200, headers: {}, ...concerns });
  };
  return { history, arrive };
}

const result = (groupId: string, id: string, text = 'done') => ({
  type: 'tool_result',
  group_id: groupId,
  id,
  text,
});
const view = (content: object) => ({ type: 'view_update', group_id: 't', view_type: 'diff', content });
const idsOf = ({ exchanges }: History) => [...exchanges.values()].map(({ invocation }) => invocation.id);
const threadsOf = ({ threads }: History) => [...threads.values()];

describe('the calls of long ago are forgotten', () => {
  test('with their threads, where there are many', () => {
    const { history, arrive } = open();
    for (let n = 0; n < 100; n++) arrive(result(`t${n}`, `c${n}`));
    expect(history.exchanges.size).toBeLessThanOrEqual(10);
    expect(idsOf(history).at(-1)).toBe('c99');
    expect(threadsOf(history).map(({ id }) => id)).toEqual(idsOf(history).map(id => id.replace('c', 't')));
  });

  test('but a subscription that is open stays, for the events to come', () => {
    const { history, arrive } = open();
    arrive({ ...result('t', 'open', 'x'.repeat(90_000)), subscription: true });
    arrive({ ...result('t', 'over'), subscription: true });
    arrive({ type: 'subscription_event', group_id: 't', tool_call_id: 'over', text: '', final: true });
    for (let n = 0; n < 100; n++) arrive(result(`t${n}`, `c${n}`));
    const [kept] = history.exchanges.values();
    expect(kept).toMatchObject({
      invocation: { id: 'open' },
      settled: { by: 'result' },
      subscription: { ended: null },
      arrivals: [],
    });
    expect(JSON.stringify(kept).length).toBeLessThan(5_000);
    expect(idsOf(history)).not.toContain('over');
  });

  test('and no more of those than calls may be', () => {
    const { history, arrive } = open();
    for (let n = 0; n < 100; n++) arrive({ ...result('t', `c${n}`), subscription: true });
    expect(history.exchanges.size).toBeLessThanOrEqual(11);
    expect(idsOf(history).at(-1)).toBe('c99');
  });

  test('also of a thread that goes on', () => {
    const { history, arrive } = open();
    for (let n = 0; n < 100; n++) arrive(result('t', `c${n}`));
    expect(threadsOf(history)[0]?.calls).toEqual([...history.exchanges.keys()]);
  });

  test('where they are large, and their views too', () => {
    const { history, arrive } = open();
    for (let n = 0; n < 8; n++) {
      arrive(result('t', `c${n}`, 'x'.repeat(30_000)));
      const content = { patch: 'y'.repeat(30_000) };
      arrive(view(content));
    }
    const weights = [...history.exchanges.values()].flatMap(({ arrivals }) =>
      arrivals.map(({ size }) => size),
    );
    expect(weights.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100_000);
    expect(idsOf(history)).toContain('c7');
  });

  test('but never what is expected', () => {
    const { history, arrive } = open([['t', 'awaited']]);
    for (let n = 0; n < 100; n++) arrive(result(`t${n}`, `c${n}`));
    arrive(result('t', 'awaited'));
    expect(idsOf(history)).toEqual(['awaited']);
    expect([...history.exchanges.values()][0]?.settled?.by).toBe('result');
  });
});

test('of a call that is reported again and again, its result stays, and what came last', () => {
  const { history, arrive } = open();
  for (let n = 0; n < 200; n++) arrive(result('t', 'c', `result ${n}`));
  const [exchange] = history.exchanges.values();
  expect(exchange?.arrivals.length).toBeLessThanOrEqual(20);
  expect((exchange?.arrivals.length ?? 0) + (exchange?.forgotten ?? 0)).toBe(200);
  expect(exchange?.arrivals[0]?.verdict.kind).toBe('settles');
  arrive(result('t', 'c', 'result 0'));
  expect(history.exchanges.get('["t","c"]')?.arrivals.at(-1)?.verdict).toMatchObject({ identical: true });
});
