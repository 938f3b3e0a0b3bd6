import { expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { History } from '../../../src/events/history.js';
import { createLog } from '../../../src/events/log.js';

/** More calls, and more bytes, than a history keeps. */
const MANY = 2_100;
const LARGE = 5 * 1024 * 1024;

/** A listener's history without its sockets: each callback names its call. */
function open(expected: readonly [string, string][] = []) {
  let now = 0;
  const log = createLog(() => now++);
  const history = new History();
  log.subscribe(event => history.apply(event));
  const keys = expected.map(ids => JSON.stringify(ids));
  history.keepRecent(new Set(keys));
  const begin = (key: string) => {
    const [group_id, id] = JSON.parse(key);
    const body = Content.ofJson({ operation: 'x', arguments: {}, id, group_id, callback_url: 'http://a/' });
    log.emit({ kind: 'expected', calls: [key], thread: group_id, body });
  };
  for (const key of keys) begin(key);
  const about = { kind: 'request', from: 'tool', to: 'runtime', purpose: 'callback' } as const;
  const request = { ...about, method: 'POST', url: '/', headers: {}, attempt: 1 } as const;
  const arrive = (message: { readonly group_id: string } & Readonly<Record<string, unknown>>) => {
    const { group_id: thread, id = message['tool_call_id'] } = message;
    const latest = history.threads.get(thread)?.calls.at(-1) ?? '';
    const key = id === undefined ? latest : JSON.stringify([thread, id]);
    if (keys.length === 0 && !history.exchanges.has(key)) begin(key);
    const concerns = { calls: [keys[0] ?? key], thread };
    const leg = log.leg();
    log.emit({ ...request, leg, ...concerns, body: Content.ofJson(message) });
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

test('the oldest calls are dropped with their threads, but not an open subscription', () => {
  const { history, arrive } = open();
  arrive({ ...result('t', 'open'), subscription: true });
  arrive({ ...result('t', 'over'), subscription: true });
  arrive({ type: 'subscription_event', group_id: 't', tool_call_id: 'over', text: '', final: true });
  for (let n = 0; n < MANY; n++) arrive(result(`t${n}`, `c${n}`));
  expect(history.exchanges.size).toBeLessThanOrEqual(2_001);
  expect([idsOf(history)[0], idsOf(history).at(-1)]).toEqual(['open', `c${MANY - 1}`]);
  expect(idsOf(history)).not.toContain('over');
  expect(threadsOf(history).map(({ id }) => id)).toEqual(
    idsOf(history).map(id => (id === 'open' ? 't' : id.replace('c', 't'))),
  );
});

test('keeps no more open subscriptions than calls', () => {
  const { history, arrive } = open();
  for (let n = 0; n < MANY; n++) arrive({ ...result('t', `c${n}`), subscription: true });
  expect(history.exchanges.size).toBeLessThanOrEqual(2_001);
  expect(idsOf(history).at(-1)).toBe(`c${MANY - 1}`);
  expect(threadsOf(history)[0]?.calls).toEqual([...history.exchanges.keys()]);
});

test('row 15: large calls are dropped sooner, and views with them', () => {
  const { history, arrive } = open();
  for (let n = 0; n < 6; n++) {
    arrive(result('t', `c${n}`, 'x'.repeat(LARGE)));
    arrive(view({ patch: 'y'.repeat(LARGE) }));
  }
  const sizes = [...history.exchanges.values()].flatMap(({ arrivals }) => arrivals.map(({ size }) => size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(45 * 1024 * 1024);
  expect(idsOf(history)).toContain('c5');
});

test('expected calls are never dropped', () => {
  const { history, arrive } = open([['t', 'awaited']]);
  for (let n = 0; n < MANY; n++) arrive(result(`t${n}`, `c${n}`));
  arrive(result('t', 'awaited'));
  expect(idsOf(history)).toEqual(['awaited']);
  expect([...history.exchanges.values()][0]?.settled?.by).toBe('result');
});
