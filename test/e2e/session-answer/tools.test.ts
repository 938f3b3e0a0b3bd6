import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { type MockHere, startMockHere } from '../support/mock.js';
import { type Entry, fieldOf, type Peer, type PeerName, startPeer } from '../support/peers.js';
import { answer, answerWith, pendingCall as call, KEY } from '../support/session-answer.js';
import { startSessionMockHere } from '../support/session-mock.js';
import { type Script, startPlatform } from '../support/session-platform.js';

/** `session answer --tool`: calls of an agent session become RAP invocations, and their outcomes its results. */
const POLICY = `
version: 1
deny:
  - { name: edit_file, reason: not in this environment }
`;

/** What each tool calls the operation that takes its time. */
const PEERS = [
  ['plain', (ms: number, id: string) => call('slow', { ms }, id), 'Finished after 50 ms'],
  ['stdlib', (ms: number, id: string) => call('work', { ms }, id), 'Worked'],
] as const satisfies readonly [PeerName, (ms: number, id: string) => { tool_name: string }, string][];

/** What may go wrong with the platform meanwhile. */
const ODDITIES: Readonly<Record<string, Script>> = {
  'three rounds': {},
  'three rounds, where questions fail, and every post is asked to wait': {
    gets: [500, 'drop', 503, null, 502],
    posts: waits(1, 3, 5),
  },
};

let folder: Folder;
let policy: string;
let tools: Readonly<Record<'plain' | 'stdlib', Peer>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  policy = await folder.write('policy.yaml', POLICY);
  const [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
  tools = { plain, stdlib };
});
afterAll(async () => {
  await Promise.all([tools.plain.stop(), tools.stdlib.stop()]);
  await folder[Symbol.asyncDispose]();
});

const invocations = async (tool: Peer) => (await tool.log()).filter(({ what }) => what === 'invocation');
const operations = (entries: readonly Entry[]) => entries.map(entry => fieldOf(entry, 'operation')).sort();

describe.concurrent.each(PEERS)('the %s tool', (name, slow, finished) => {
  const oddities = Object.entries(ODDITIES).slice(0, name === 'plain' ? undefined : 1);
  it.each(oddities)('%s: each call is made once and answered once', async (_, oddities) => {
    const own = (id: string) => `${randomUUID()} ${id}`;
    const [one, two, four, five] = ['1', '2', '4', '5'].map(own);
    const rounds = [
      {
        calls: [
          call('echo', { text: 'one' }, one ?? ''),
          slow(50, two ?? ''),
          call('echo', { text: '{"n":1}' }, null),
        ],
      },
      { calls: [slow(60_000, four ?? ''), call('echo', { text: 'Error: no such order' }, five ?? '')] },
      {
        calls: [
          call('edit_file', { path: 'a.txt' }, 'c6'),
          call('echo', { texts: [] }, 'c7'),
          call('nope', {}, 'c8'),
        ],
      },
    ];
    await using platform = await startPlatform({ key: KEY, rounds, end: { answer: 'done' }, ...oddities });
    const tool = tools[name];
    const args = ['--tool', tool.url, '--timeout', '8s', '--policy', policy, '-o', 'plain'];
    const { status, stderr, stdout } = await answer(platform, args);
    expect(status, stdout + stderr).toBe(0);
    const { settled, pending, status: end } = await platform.session();
    expect([end, pending]).toEqual(['completed', []]);
    expect(settled.map(({ tool_req }) => tool_req)).toEqual(rounds.flatMap(({ calls }) => calls));
    expect(settled).toMatchObject([
      { kind: 'tool_result', result: 'one' },
      { kind: 'tool_result', result: finished },
      { kind: 'tool_result', result: '{"n":1}' },
      { kind: 'error_event', error: expect.stringMatching(/time/i) },
      { kind: 'error_event', error: expect.stringContaining('no such order'), origin: 'custom_tools' },
      { kind: 'error_event', error: expect.stringContaining('not in this environment') },
      { kind: 'error_event', error: expect.stringContaining('text') },
      { kind: 'error_event', error: expect.stringContaining('nope') },
    ]);
    const invoked = await tool.seen('invocation', entry => fieldOf(entry, 'id') === one);
    const thread = fieldOf(invoked, 'group_id');
    const made = (await invocations(tool)).filter(entry => fieldOf(entry, 'group_id') === thread);
    const slowly = slow(0, '').tool_name;
    expect(operations(made)).toEqual(['echo', 'echo', 'echo', slowly, slowly].sort());
    const ids = made.map(entry => fieldOf(entry, 'id'));
    expect(ids).toEqual(expect.arrayContaining([one, two, four, five]));
    expect(new Set(ids).size).toBe(5);
    await tool.seen('close_thread', entry => fieldOf(entry, 'thread_id') === thread);
  });
});

function waits(...numbers: number[]): Record<string, object> {
  return Object.fromEntries(
    numbers.map(number => [number, { status: 429, headers: { 'retry-after': '0' } }]),
  );
}

describe.concurrent('our mock-tool', () => {
  const FIXTURES = `
version: 1
fixtures:
  - { match: { operation: pay, arguments: { amount: 7 } }, reply: { payload: { paid: "{{arguments.amount}}", call: "{{id}}" } } }
  - { match: { operation: broke }, reply: { error: { message: rate limited, code: RATE } } }
  - { match: { operation: forbidden }, reply: { denied: { tool: forbidden, reason: not here } } }
  - { match: { operation: stopped }, reply: { canceled: { reason: enough, by: user } } }
  - { match: { operation: late }, reply: { timeout: { durationMs: 30000 } } }
  - { match: { operation: gone }, faults: { ack: { status: 500 } }, reply: { payload: x } }
  - match: { operation: which }
    reply: { choice: { prompt: Which?, choices: [staging, production], default: 0 }, then: { staging: { payload: s }, production: { payload: p } } }
`;

  async function mocked(mock: Pick<MockHere, 'url'>, rounds: object[], ...args: string[]) {
    await using platform = await startPlatform({ key: KEY, rounds });
    const { status } = await answer(platform, ['--tool', mock.url, '-o', 'plain', ...args]);
    expect(status).toBe(0);
    const { settled } = await platform.session();
    return { settled, posts: await platform.posts() };
  }

  it('every outcome: a text is the result, all others are error_events', async () => {
    await using mock = await startMockHere([await folder.write('outcomes.yaml', FIXTURES), '-q']);
    const names = ['broke', 'forbidden', 'stopped', 'late', 'gone'];
    const calls = [call('pay', { amount: 7 }, 'p1'), ...names.map(each => call(each, {}, each))];
    const { settled } = await mocked(mock, [{ calls }], '--retries', '0');
    expect(settled.map(({ kind, result, error, origin }) => ({ kind, result, error, origin }))).toEqual([
      { kind: 'tool_result', result: '{"paid":7,"call":"p1"}' },
      { kind: 'error_event', error: expect.stringContaining('rate limited'), origin: 'custom_tools' },
      { kind: 'error_event', error: expect.stringContaining('not here'), origin: expect.any(String) },
      { kind: 'error_event', error: expect.stringContaining('enough'), origin: expect.any(String) },
      { kind: 'error_event', error: expect.stringMatching(/30000|30 ?s/), origin: expect.any(String) },
      { kind: 'error_event', error: expect.stringContaining('500'), origin: expect.any(String) },
    ]);
  });

  it('--parse-json: a text that is JSON is parsed, others stay', async () => {
    await using mock = await startMockHere([
      await folder.write(
        'json.yaml',
        `${FIXTURES}  - { match: { operation: word }, reply: { payload: "{ no JSON" } }\n`,
      ),
      '-q',
    ]);
    const calls = [call('pay', { amount: 7 }, 'p1'), call('word', {}, 'w')];
    const { settled } = await mocked(mock, [{ calls }], '--parse-json');
    expect(settled.map(({ result }) => result)).toEqual([{ paid: 7, call: 'p1' }, '{ no JSON']);
  });

  it('--choose answers questions; without it and without a terminal they are errors', async () => {
    await using mock = await startMockHere([await folder.write('choice.yaml', FIXTURES), '-q']);
    const rounds = [{ calls: [call('which', {}, 'w')] }];
    const chosen = await mocked(mock, rounds, '--choose', 'production');
    expect(chosen.settled).toMatchObject([{ kind: 'tool_result', result: 'p' }]);
    const unattended = await mocked(mock, rounds);
    expect(unattended.settled).toMatchObject([
      { kind: 'error_event', error: expect.stringMatching(/choice|decision|asks|Which/i) },
    ]);
  });

  it('a destructive operation without --yes and without a terminal is not called', async () => {
    const { stdlib } = tools;
    const rounds = [{ calls: [call('delete_all', {}, 'd')] }];
    const held = await mocked(stdlib, rounds);
    expect(held.settled).toMatchObject([
      { kind: 'error_event', error: expect.stringContaining('delete_all') },
    ]);
    expect(operations(await invocations(stdlib))).not.toContain('delete_all');
    const allowed = await mocked(stdlib, rounds, '--yes');
    expect(allowed.settled).toMatchObject([{ kind: 'tool_result', result: 'Deleted all 3 files' }]);
  });
});

describe.concurrent('a tool', () => {
  it('that is unreachable: 4, before any request to the session', async () => {
    await using platform = await startPlatform({
      key: KEY,
      rounds: [{ calls: [call('echo', { text: 'a' }, 'a')] }],
    });
    const { status, stderr } = await answer(platform, ['--tool', 'http://127.0.0.1:9', '-o', 'plain']);
    expect([status, stderr]).toEqual([4, expect.stringMatching(/^error: .*127\.0\.0\.1:9/m)]);
    expect(await platform.posts()).toEqual([]);
  });

  it('that dies between two rounds: its calls fail, and the session goes on', async () => {
    await using tool = await startPeer('plain');
    const echo = (id: string) => ({ calls: [call('echo', { text: id }, id)] });
    await using platform = await startPlatform({
      key: KEY,
      rounds: [echo('a'), echo('b')],
      posts: { 1: { afterMs: 800 } },
    });
    const ending = answer(platform, ['--tool', tool.url, '-o', 'plain', '--timeout', '2s', '--retries', '0']);
    await tool.seen('delivery');
    await tool.seen('delivery', ({ status }) => status === 200);
    await tool.stop();
    const { status } = await ending;
    expect(status).toBe(0);
    const { settled } = await platform.session();
    expect(settled).toMatchObject([
      { kind: 'tool_result', result: 'a' },
      { kind: 'error_event', error: expect.stringMatching(/refused|reach|connect/i) },
    ]);
  });
});

describe('without a tool', () => {
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
});
