import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { answer, pendingCall as call, KEY } from '../support/session-answer.js';
import { type Script, startPlatform } from '../support/session-platform.js';
import { unsafeIn } from '../support/text.js';

/** Every answer reaches the platform once, whatever the platform does (platforms). */
const FIXTURES = `
version: 1
fixtures:
  - { match: { operation: lookup_order }, reply: { payload: "{{arguments.order_id}} shipped" }, expect: { calls: { min: 0 } } }
`;

let folder: Folder;
let fixtures: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  fixtures = await folder.write('fixtures.yaml', FIXTURES);
});
afterAll(() => folder[Symbol.asyncDispose]());

const order = (id: string | null, order_id = id ?? 'none') => ({
  tool_name: 'lookup_order',
  args: { order_id },
  id,
});
const shipped = (tool_req: ReturnType<typeof order>) => ({
  kind: 'tool_result',
  tool_req,
  result: `${tool_req.args.order_id} shipped`,
});

async function runSession(script: Script, ...args: string[]) {
  await using platform = await startPlatform({ key: KEY, ...script });
  const ended = await answer(platform, ['--fixtures', fixtures, '-o', 'plain', ...args]);
  const posts = await platform.posts();
  return { ...ended, session: await platform.session(), posts, log: await platform.log() };
}

const [A, B, C] = [order('a'), order('b'), order(null, 'N')];

describe.concurrent('posts', () => {
  it('one call is posted alone, several as a batch, each tool_req unchanged', async () => {
    const extra = { ...order('x'), extra: { deep: [null] }, __tag: 1 };
    const { status, posts } = await runSession({ rounds: [{ calls: [extra] }, { calls: [A, B, C] }] });
    expect(status).toBe(0);
    expect(posts.map(({ body, status }) => [body, status])).toEqual([
      [shipped(extra), 202],
      [{ type: 'batch', results: [shipped(A), shipped(B), shipped(C)] }, 202],
    ]);
    expect(posts[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': expect.stringMatching(/^application\/json/),
    });
  });

  it.each<[string, Script['posts'], (number | null)[]]>([
    ['its answer is lost: not posted again', { 1: 'lose' }, [null, 202]],
    ['it is lost: posted again', { 1: 'drop' }, [null, 202, 202]],
    ['lost twice, then its answer', { 1: 'drop', 2: 'drop', 3: 'lose' }, [null, null, null, 202]],
    ['429: posted again', { 1: { status: 429, headers: { 'retry-after': '0' } } }, [429, 202, 202]],
    ['429 without a time', { 1: { status: 429 } }, [429, 202, 202]],
    ['422 for all at once: one by one', { 1: { status: 422, body: { detail: [] } } }, [422, 202, 202, 202]],
    ['late: waited for', { 1: { afterMs: 1_500 } }, [202, 202]],
  ])('%s', async (_, posts, statuses) => {
    const { status, session, ...rest } = await runSession({
      rounds: [{ calls: [A, C] }, { calls: [B] }],
      posts,
    });
    expect(rest.posts.map(post => post.status)).toEqual(statuses);
    expect(session).toEqual({ status: 'completed', pending: [], settled: [A, C, B].map(shipped) });
    expect(status).toBe(0);
  });

  it('409: the session is over; the post did not fail', async () => {
    const { status, posts, session } = await runSession({ rounds: [{ calls: [A, B] }], posts: { 1: 'end' } });
    expect([posts.length, posts[0]?.status, session.status]).toEqual([1, 409, 'interrupted']);
    expect(status).toBe(5);
  });

  it('422, since another client answered one call first: the others are posted', async () => {
    const { status, posts, session } = await runSession({
      rounds: [{ calls: [A, B, C] }],
      posts: { 1: 'steal' },
    });
    expect(posts.map(post => post.status)).toEqual([422, 202]);
    expect(session.settled).toMatchObject([{ result: 'by someone else' }, shipped(B), shipped(C)]);
    expect(status).toBe(0);
  });

  it('two identical calls without an id are two calls', async () => {
    const { status, session } = await runSession({ rounds: [{ calls: [C, C] }] });
    expect(session).toMatchObject({ status: 'completed', settled: [shipped(C), shipped(C)] });
    expect(status).toBe(0);
  });

  describe('of more than 10,000,000 bytes', () => {
    const huge = (id: string) => call('huge', {}, id);
    /** Code, since a file of this size would take long to read. */
    const giving = async (bytes: number) => {
      const library = new URL('../../../dist/index.js', import.meta.url).href;
      const code = `import { defineTool } from '${library}';
        const inputSchema = { type: 'object' };
        export default defineTool({ name: 'huge', description: 'huge', inputSchema, handle: () => 'x'.repeat(${bytes}) });`;
      return ['--handlers', await folder.write(`huge-${bytes}.mjs`, code), '-o', 'plain'];
    };

    it('are split into several bodies', async () => {
      await using platform = await startPlatform({
        key: KEY,
        rounds: [{ calls: ['a', 'b', 'c'].map(huge) }],
      });
      const { status } = await answer(platform, await giving(6_000_000));
      expect(status).toBe(0);
      const { settled } = await platform.session();
      expect(settled.map(({ kind }) => kind)).toEqual(['tool_result', 'tool_result', 'tool_result']);
      expect((await platform.posts()).map(post => post.status)).toEqual([202, 202, 202]);
    });

    it('a result that is too large becomes an error', async () => {
      await using platform = await startPlatform({ key: KEY, rounds: [{ calls: [huge('a')] }] });
      const { status } = await answer(platform, await giving(11_000_000));
      expect(status).toBe(0);
      const error = expect.stringMatching(/too large/);
      expect((await platform.session()).settled).toMatchObject([{ kind: 'error_event', error }]);
    });

    it('a smaller limit of the platform: posted one by one, and the one that is too large becomes an error', async () => {
      await using platform = await startPlatform({
        key: KEY,
        rounds: [{ calls: [huge('a'), call('unknown', {}, 'b')] }],
        maxBody: 10_000,
      });
      const { status } = await answer(platform, await giving(20_000));
      expect(status).toBe(0);
      const { settled } = await platform.session();
      expect(settled.map(({ kind, tool_req }) => [kind, tool_req['id']]).sort()).toEqual([
        ['error_event', 'a'],
        ['error_event', 'b'],
      ]);
    });
  });
});

describe.concurrent('questions', () => {
  it.each<[string, Script]>([
    ['5xx and broken connections are asked again', { gets: [500, 503, 'drop', null, 502, 'drop'] }],
    ['a slow answer is waited for', { gets: [{ afterMs: 1_500 }, { afterMs: 1_000 }] }],
    ['a platform that answers long polls at once is not a trouble', { hasty: true }],
    ['one event at a time', { page: 1 }],
    [
      'events that no one knows',
      {
        events: [
          { type: 'NewThing', data: null },
          { type: 'ActiveStateChangeEvent', data: { state: 'dreaming', pending_tool_calls: 'none' } },
          { type: 'AgentEvent', data: { pending_tool_calls: [order('ghost')] }, extra: 1 },
          { type: '__proto__' },
        ],
      },
    ],
  ])('%s', async (_, oddities) => {
    const { status, session, stderr, posts } = await runSession({
      rounds: [{ calls: [A, B] }, { calls: [C] }],
      ...oddities,
    });
    expect(status, stderr).toBe(0);
    expect(session).toEqual({ status: 'completed', pending: [], settled: [A, B, C].map(shipped) });
    expect(posts).toHaveLength(2);
  });

  it('use the long poll with the known index, then the status', async () => {
    const { log } = await runSession({ rounds: [{ calls: [A] }] });
    const asked = log.filter(({ what }) => what.startsWith('GET'));
    expect(asked.map(({ what }) => what)).toEqual(expect.arrayContaining(['GET /changes', 'GET /status']));
    for (const { url, headers } of asked) {
      expect(headers).toMatchObject({ authorization: `Bearer ${KEY}` });
      if (url.includes('/changes'))
        expect(url).toMatch(/from_index=\d+&include_events=(true|false)&wait_for_seconds=\d+/);
    }
  });
});

describe.concurrent('hostile calls of the platform', () => {
  it('rows 19, 24: prototype keys and control characters', async () => {
    const evil = '\u001b]0;title\u0007\u202e';
    const args = JSON.parse('{"__proto__":{"polluted":true},"order_id":"x"}');
    const calls = [call('lookup_order', args, '__proto__'), call(evil, { [evil]: evil }, evil)];
    const { status, session, stdout, stderr } = await runSession({
      rounds: [{ calls }],
      end: { answer: evil },
    });
    expect(status).toBe(0);
    expect(JSON.stringify(session.settled[0]?.tool_req)).toBe(JSON.stringify(calls[0]));
    expect(session.settled[1]).toMatchObject({ kind: 'error_event', tool_req: calls[1] });
    expect(stdout + stderr).toContain('title');
    expect(unsafeIn(stdout + stderr)).toEqual([]);
  });

  it.each<[string, object]>([
    ['no name', { args: {}, id: 'odd' }],
    ['args that are a list', { tool_name: 'lookup_order', args: [1], id: 'odd' }],
    ['an id that is a number', { tool_name: 'lookup_order', args: { order_id: 'n' }, id: 7 }],
  ])('a call with %s is reported, and the others are answered', async (_, odd) => {
    await using platform = await startPlatform({ key: KEY, rounds: [{ calls: [odd, A] }], settled: 202 });
    const args = ['--fixtures', fixtures, '-o', 'plain', '--wait', '3s'];
    await answer(platform, args);
    const { settled } = await platform.session();
    expect(settled).toContainEqual(shipped(A));
  });
});
