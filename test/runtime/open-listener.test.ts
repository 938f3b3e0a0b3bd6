import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import { OpenListener } from '../../src/runtime/callback-server.js';
import { openWires } from './open-wires.js';

const OPTIONS = { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 1_000_000 };
const result = (groupId: string, id: string, text = 'done') => ({
  type: 'tool_result',
  group_id: groupId,
  id,
  text,
});
const view = (groupId: string) => ({
  type: 'view_update',
  group_id: groupId,
  view_type: 'diff',
  content: { patch: '' },
});

/** Starts a listener that expects these calls, and POSTs the messages one after the other. */
async function posting(expected: readonly [string, string][], ...messages: readonly object[]) {
  await using wires = openWires();
  const { log } = wires;
  const events: Event[] = [];
  log.subscribe(event => events.push(event));
  const listener = await OpenListener.start(log, wires.history, OPTIONS);
  for (const [groupId, id] of expected) listener.expect({ groupId, id });
  const statuses: number[] = [];
  for (const message of messages) statuses.push(await post(listener.callbackUrl, message));
  await listener.server.close();
  const exchanges = [...wires.history.exchanges.values()];
  const untracked = [...wires.history.untracked.values()];
  return { statuses, exchanges, untracked, events, listener };
}

async function post(url: string, message: object): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
  await answer.body?.cancel();
  return answer.status;
}

const idsOf = ({ invocation }: { invocation: { group_id: string; id: string } }) =>
  `${invocation.group_id}/${invocation.id}`;

describe('without expected calls', () => {
  test('each callback belongs to the call that it names, and the first result of each counts', async () => {
    const outcome = await posting(
      [],
      result('t', 'a'),
      result('t', 'b'),
      result('u', 'a'),
      result('t', 'a', 'again'),
    );
    expect(outcome.statuses).toEqual([200, 200, 200, 200]);
    expect(outcome.exchanges.map(idsOf)).toEqual(['t/a', 't/b', 'u/a']);
    expect(outcome.exchanges[0]?.arrivals.map(({ verdict }) => verdict.kind)).toEqual([
      'settles',
      'duplicate',
    ]);
  });

  test('a view belongs to the latest call of its thread, or to a new thread without one', async () => {
    const { statuses, exchanges } = await posting(
      [],
      result('t', 'a'),
      result('t', 'b'),
      view('t'),
      view('v'),
    );
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(exchanges.map(({ arrivals }) => arrivals.map(({ message }) => message?.type))).toEqual([
      ['tool_result'],
      ['tool_result', 'view_update'],
      ['view_update'],
    ]);
  });

  test('RT-SUB: discards an event that no result announced', async () => {
    const event = { type: 'subscription_event', group_id: 't', tool_call_id: 'a', text: 'news' };
    const announced = { ...result('t', 'b'), subscription: true };
    const { statuses } = await posting([], event, announced, { ...event, tool_call_id: 'b' });
    expect(statuses).toEqual([404, 200, 200]);
  });

  test('RT-VALIDATE: an invalid callback belongs to no call, and the reason is recorded', async () => {
    const { statuses, exchanges, untracked } = await posting([], { type: 'nope' }, result('', 'a'));
    expect(statuses).toEqual([400, 404]);
    expect(exchanges).toEqual([]);
    expect(untracked).toMatchObject([
      { status: 400, refusal: expect.stringMatching(/^\$\.type/) },
      { status: 404, refusal: 'its group_id or its id is empty' },
    ]);
  });
});

describe('RT-MATCH: with expected calls', () => {
  test('other callbacks are rejected, and compared with the nearest expected call', async () => {
    const { statuses, exchanges } = await posting(
      [
        ['t', 'a'],
        ['u', 'b'],
      ],
      ...[result('u', 'b'), result('u', 'c'), result('v', 'a'), view('v'), result('t', 'a')],
    );
    expect(statuses).toEqual([200, 404, 404, 404, 200]);
    expect(exchanges.map(idsOf)).toEqual(['t/a', 'u/b']);
    const reasons = exchanges.flatMap(({ arrivals }) =>
      arrivals.flatMap(({ verdict }) => ('reason' in verdict ? [verdict.reason] : [])),
    );
    expect(reasons).toEqual([
      'group_id is "v", the call\'s is "t"',
      'group_id is "v", the call\'s is "t"',
      'id is "c", the call\'s is "b"',
    ]);
  });

  test('an invalid callback is attributed to the only call', async () => {
    const { exchanges } = await posting([['t', 'a']], { type: 'nope' });
    expect(exchanges[0]?.arrivals).toMatchObject([{ verdict: { kind: 'rejected' }, status: 400 }]);
  });

  test('each is recorded as an event before any callback arrives', async () => {
    const { events } = await posting([['t', 'a']]);
    expect(events).toMatchObject([{ kind: 'expected', thread: 't', calls: ['["t","a"]'] }]);
  });
});
