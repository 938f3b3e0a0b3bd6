import { beforeEach, describe, expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { createLog } from '../../../src/events/log.js';
import { type McpConnection, McpObserver } from '../../../src/record/mcp/observer.js';
import { INITIALIZE, rpcCall } from '../../mock/mcp/start-mcp-mock.js';

let events: Event[];
let observer: McpObserver;
let connection: McpConnection;
beforeEach(() => {
  events = [];
  const log = createLog(() => 0);
  log.subscribe(event => events.push(event));
  observer = new McpObserver(log, 'stdio:server');
  connection = observer.connection();
});

const sent = (message: object, of = connection) => of.sees({ jsonrpc: '2.0', ...message }, 'client');
const received = (message: object, of = connection) => of.sees({ jsonrpc: '2.0', ...message }, 'tool');

/** Each event in a few words. */
const recorded = () =>
  events.map(event => {
    const calls = event.calls?.join() ?? '';
    switch (event.kind) {
      case 'request':
        return [event.method, calls];
      case 'response':
        return [event.status, calls, event.body?.text ?? ''];
      case 'broken':
        return [event.code, calls];
      case 'decided':
        return [event.what, event.value, calls];
      case 'loaded':
        return ['loaded', event.toolset, event.operations.join()];
      default:
        return [event.kind];
    }
  });

const DONE = { content: [] };
const form = (id: unknown) => ({
  id,
  method: 'elicitation/create',
  params: {
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { size: { type: 'string', enum: ['s', 'l'] } } },
  },
});
const progress = (progressToken: unknown) => ({
  method: 'notifications/progress',
  params: { progressToken, progress: 1 },
});
const callWith = (id: number, params: object) => ({
  id,
  method: 'tools/call',
  params: { name: 'op', ...params },
});

test('discovery: all pages, and the name of the server; the same list again is no event', () => {
  sent(INITIALIZE);
  received({ id: 'init', result: { serverInfo: { name: 'shop', version: '1' } } });
  for (const round of [1, 2]) {
    sent({ id: round, method: 'tools/list' });
    received({ id: round, result: { tools: [{ name: 'a' }, null, { name: 7 }], nextCursor: 'x' } });
    sent({ id: round + 10, method: 'tools/list', params: { cursor: 'x' } });
    received({ id: round + 10, result: { tools: [{ name: 'b' }] } });
  }
  expect(recorded().filter(([what]) => what === 'loaded')).toEqual([['loaded', 'shop', 'a,b']]);
  const listings = events.flatMap(event => (event.kind === 'response' && event.body?.text) || []);
  expect(listings.slice(0, 2).map(text => JSON.parse(text))).toEqual([
    { tools: [{ name: 'a' }, null, { name: 7 }], nextCursor: 'x' },
    { tools: [{ name: 'b' }] },
  ]);
  expect(events[0]).toMatchObject({ purpose: 'discovery', dialect: 'mcp', url: 'stdio:server', headers: {} });
});

test('a list of tools that is refused is not a list without tools', () => {
  sent({ id: 1, method: 'tools/list' });
  received({ id: 1, error: { code: -32600, message: 'no' } });
  expect(recorded()).toEqual([
    ['tools/list', ''],
    [200, '', ''],
  ]);
});

test('a call: the id as it was written, and the error of JSON-RPC as its result', () => {
  sent(rpcCall(1));
  sent({ ...rpcCall(2), id: '1' });
  received({ id: '1', error: { code: -1, message: 'no', data: [1] } });
  received({ id: 1, result: DONE });
  received({ id: 1, result: { content: ['again'] } });
  expect(recorded()).toEqual([
    ['tools/call', 'call-1'],
    ['tools/call', 'call-2'],
    [200, 'call-2', '{"error":{"code":-1,"message":"no","data":[1]}}'],
    [200, 'call-1', '{"content":[]}'],
  ]);
  expect(Object.fromEntries(observer.ends.counts)).toEqual({ silent: 0, result: 2 });
});

test('progress belongs to the call of its token, while that is open', () => {
  sent(callWith(1, { _meta: { progressToken: 'a' } }));
  sent(callWith(2, { _meta: { progressToken: 5 } }));
  for (const token of ['a', 5, '5', undefined]) received(progress(token));
  received({ id: 1, result: DONE });
  received(progress('a'));
  expect(recorded().filter(([what]) => what === 'notifications/progress')).toEqual([
    ['notifications/progress', 'call-1'],
    ['notifications/progress', 'call-2'],
  ]);
});

test('a canceled call is broken off, and a late answer is no event', () => {
  sent(rpcCall(1));
  sent({ method: 'notifications/cancelled', params: { requestId: 7 } });
  sent({ method: 'notifications/cancelled', params: { requestId: 1 } });
  received({ id: 1, result: DONE });
  expect(recorded()).toEqual([
    ['tools/call', 'call-1'],
    ['notifications/cancelled', 'call-1'],
    [202, 'call-1', ''],
    ['CANCELLED', 'call-1'],
  ]);
});

describe('a form', () => {
  test('in a request of the server belongs to the latest open call', () => {
    received(form('early'));
    sent(rpcCall(1));
    sent(rpcCall(2));
    received({ id: 2, result: DONE });
    received(form('f'));
    sent({ id: 'f', result: { action: 'accept', content: { size: 'l' } } });
    received(form('g'));
    sent({ id: 'g', error: { code: -32_601, message: 'no forms' } });
    expect(recorded().slice(3)).toEqual([
      ['elicitation/create', 'call-1'],
      ['choice', 1, 'call-1'],
      [200, 'call-1', '{"action":"accept","content":{"size":"l"}}'],
      ['elicitation/create', 'call-1'],
      ['REFUSED', 'call-1'],
    ]);
  });

  test.each([
    ['with a state, on another connection', { requestState: 'later' }],
    ['without a state', {}],
  ])('in an answer goes on with the next request: %s', (_, state) => {
    const { method, params } = form(0);
    sent(callWith(1, { arguments: { a: 1 } }));
    const inputRequests = { which: { method, params }, other: { method: 'roots/list' } };
    received({ id: 1, result: { resultType: 'input_required', inputRequests, ...state } });
    const next = observer.connection();
    const inputResponses = { which: { action: 'decline' } };
    sent(callWith(2, { arguments: { a: 1 }, inputResponses, ...state }), next);
    received({ id: 2, result: DONE }, next);
    expect(recorded()).toEqual([
      ['tools/call', 'call-1'],
      ['elicitation/create', 'call-1'],
      ['choice', 2, 'call-1'],
      [200, 'call-1', '{"action":"decline"}'],
      [200, 'call-1', '{"content":[]}'],
    ]);
    sent(callWith(3, { arguments: { a: 1 }, inputResponses, ...state }), next);
    expect(recorded().at(-1)).toEqual(['tools/call', 'call-2']);
  });
});

test('a batch is read message by message; what is not a message is noted, and changes nothing', () => {
  const call = rpcCall(1);
  expect(connection.sees([call, { ...call, id: 2 }], 'client')).toBe(true);
  expect(connection.sees([7, { ...call, id: 3 }], 'client')).toBe(false);
  expect(recorded()).toHaveLength(3);
  for (const value of [null, 7, 'text', [], [[call]], {}, { jsonrpc: '2.0', id: 1 }, { ...call, jsonrpc: 2 }])
    expect(connection.sees(value, 'client')).toBe(false);
  for (const params of [undefined, null, [], 'x', { name: {}, arguments: [], _meta: 7 }])
    expect(connection.sees({ ...call, params }, 'client')).toBe(true);
  for (const result of [null, 'x', [], { resultType: 'input_required', inputRequests: 7 }])
    expect(connection.sees({ jsonrpc: '2.0', id: 1, result }, 'tool')).toBe(true);
});

test('what has no answer at the end is broken off', () => {
  sent(INITIALIZE);
  sent(rpcCall(1));
  connection.end('ENDED');
  connection.end('ENDED');
  expect(recorded().slice(2)).toEqual([
    ['ENDED', ''],
    ['ENDED', 'call-1'],
  ]);
});
