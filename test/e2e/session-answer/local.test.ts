import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { answer, answerWith, pendingCall as call, KEY } from '../support/session-answer.js';
import { startSessionMockHere } from '../support/session-mock.js';
import { startPlatform } from '../support/session-platform.js';

/** `session answer` with results from a file, or from code, and no tool at all. */
const FIXTURES = `
version: 1
toolset:
  name: orders
  description: Orders
  tools:
    - name: lookup_order
      description: Find an order
      inputSchema: { type: object, properties: { order_id: { type: string } }, required: [order_id] }
    - { name: broke, description: Fails, inputSchema: { type: object } }
    - { name: count, description: Counts, inputSchema: { type: object } }
fixtures:
  - { match: { operation: lookup_order, arguments: { order_id: A1 } }, reply: { delay: 50ms, payload: { state: shipped, of: "{{arguments.order_id}}" } } }
  - { match: { operation: broke }, reply: { error: { message: rate limited } } }
  - { match: { operation: count }, sequence: [{ payload: first }, { payload: second }], exhausted: last }
`;

const library = new URL('../../../dist/index.js', import.meta.url).href;
const HANDLERS = `
import { defineTool, payload, result } from '${library}';
let arrive;
const both = new Promise(resolve => { arrive = resolve; });
const tool = (name, handle) => defineTool({ name, description: name, inputSchema: { type: 'object' }, handle });
export default [
  tool('lookup_order', ({ arguments: { order_id } }) => payload({ order_id, state: 'shipped' })),
  tool('explode', () => { throw new Error('Order not found'); }),
  tool('nothing', () => undefined),
  tool('shown', () => result({ text: 'for the model', display_as: [{ type: 'text', content: 'for the person' }] })),
  tool('first', async () => { await both; return 'first'; }),
  tool('second', () => { arrive(); return 'second'; }),
];
`;

let folder: Folder;
let fixtures: string;
let handlers: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  fixtures = await folder.write('fixtures.yaml', FIXTURES);
  handlers = await folder.write('handlers.mjs', HANDLERS);
});
afterAll(() => folder[Symbol.asyncDispose]());

async function settledBy(rounds: object[], ...args: string[]) {
  await using platform = await startPlatform({ key: KEY, rounds, end: { answer: 'done' } });
  const { status, stdout, stderr } = await answer(platform, [...args, '-o', 'plain']);
  expect(status, stdout + stderr).toBe(0);
  return (await platform.session()).settled;
}

describe.concurrent('--fixtures', () => {
  it('answers with payloads unchanged; errors, unknown tools and unmatched calls are error_events', async () => {
    const calls = [
      call('lookup_order', { order_id: 'A1' }, 'a'),
      call('broke', {}, 'b'),
      call('unheard_of', {}, 'c'),
      call('lookup_order', { order_id: 'Z9' }, 'd'),
      call('lookup_order', {}, 'e'),
    ];
    const settled = await settledBy([{ calls }], '--fixtures', fixtures);
    expect(settled).toEqual([
      { kind: 'tool_result', tool_req: calls[0], result: { state: 'shipped', of: 'A1' } },
      { kind: 'error_event', tool_req: calls[1], error: 'rate limited', origin: 'custom_tools' },
      ...['unheard_of', 'order_id', 'order_id'].map((word, index) => ({
        ...{ kind: 'error_event', tool_req: calls[index + 2] },
        ...{ error: expect.stringContaining(word), origin: expect.any(String) },
      })),
    ]);
  });

  it('a sequence goes on in the next round', async () => {
    const rounds = ['a', 'b', 'c'].map(id => ({ calls: [call('count', {}, id)] }));
    const settled = await settledBy(rounds, '--fixtures', fixtures);
    expect(settled.map(({ result }) => result)).toEqual(['first', 'second', 'second']);
  });

  it('an invalid file: its errors, 2, and no request to the platform', async () => {
    await using platform = await startPlatform({ key: KEY });
    const file = await folder.write('broken.yaml', 'version: 1\nfixturs: []\n');
    const { status, stderr } = await answer(platform, ['--fixtures', file]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/broken\.yaml:2:1 \$\.fixturs: .*"fixtures"/),
    ]);
    expect(await platform.log()).toEqual([]);
  });
});

describe.concurrent('--handlers', () => {
  it('answers with the return value: throws are errors, undefined is null, display_as is left out', async () => {
    const calls = [
      call('lookup_order', { order_id: 'A1' }, 'a'),
      call('explode', {}, 'b'),
      call('nothing', {}, 'c'),
      call('shown', {}, 'd'),
    ];
    const settled = await settledBy([{ calls }], '--handlers', handlers);
    expect(settled).toEqual([
      { kind: 'tool_result', tool_req: calls[0], result: { order_id: 'A1', state: 'shipped' } },
      { kind: 'error_event', tool_req: calls[1], error: 'Order not found', origin: expect.any(String) },
      { kind: 'tool_result', tool_req: calls[2], result: null },
      { kind: 'tool_result', tool_req: calls[3], result: 'for the model' },
    ]);
  });

  it('calls of one wait run in parallel', async () => {
    const rounds = [{ calls: [call('first', {}, 'a'), call('second', {}, 'b')] }];
    const settled = await settledBy(rounds, '--handlers', handlers);
    expect(settled.map(({ result }) => result)).toEqual(['first', 'second']);
  });
});

describe.concurrent('against session mock', () => {
  it('two clients of one session: both end with 0, and every call has one answer', async () => {
    const rounds = ['a', 'b'].map(id => ({ calls: [call('lookup_order', { order_id: 'A1' }, id)] }));
    const file = await folder.write('two.json', JSON.stringify({ version: 1, session: { rounds } }));
    await using mock = await startSessionMockHere([file]);
    const args = [mock.url, mock.session, '--fixtures', fixtures, '-o', 'plain'];
    const env = { API_KEY: mock.key };
    const ended = await Promise.all([answerWith(args, { env }), answerWith(args, { env })]);
    expect(ended.map(({ status }) => status)).toEqual([0, 0]);
    expect(await mock.known().changes()).toMatchObject({ status: 'completed' });
  });

  it('the script of the guide, with --key, a base URL with a slash, and a created session', async () => {
    const script = `
version: 1
session:
  tools: [{ name: lookup_order, description: Find an order, input_schema: { type: object } }]
  rounds:
    - calls: [{ tool_name: lookup_order, args: { order_id: A1 }, id: call_1 }, { tool_name: lookup_order, args: {}, id: null }]
      expect: { call_1: { kind: tool_result, result: { state: shipped } } }
    - calls: [{ tool_name: lookup_order, args: { order_id: "{{results.call_1.order_id}}" }, id: call_2 }]
  answer: "Your order {{results.call_2.state}}"
switches: { batch: atomic, settled: 422, tool_req: exact }
`;
    await using mock = await startSessionMockHere([await folder.write('script.yaml', script), '--verify']);
    const { id } = await mock.fresh();
    const args = [`${mock.url}/`, id, '--handlers', handlers, '--key', mock.key, '-o', 'json'];
    const { status, stdout, stderr } = await answerWith(args);
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      session: { id, status: 'completed', answer: 'Your order shipped' },
      calls: [
        { key: 'call_1', tool_name: 'lookup_order', outcome: { type: 'success' } },
        { key: '#1', tool_name: 'lookup_order', outcome: { type: 'success' } },
        { key: 'call_2', args: { order_id: 'A1' }, outcome: { type: 'success' } },
      ],
    });
    const ended = await mock.stop();
    expect(ended.status, ended.stderr).toBe(0);
  });
});
