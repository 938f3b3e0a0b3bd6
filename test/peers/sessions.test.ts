import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  CLIENT_NAMES,
  type ClientName,
  clientCommand,
  postsOf,
  readOutcome,
  sessionClients,
  statesOf,
} from '../e2e/support/session-client.js';
import { type Script, startPlatform } from '../e2e/support/session-platform.js';

/** The clients of agent sessions do with a platform what the vendor's run helper does; neither of them is ours. */
const KEY = 'key-4711';
const runClient = sessionClients();
const order = (id: string | null, args: object = {}) => ({ tool_name: 'lookup_order', args, id });

async function runSession(name: ClientName, script: Script, id?: string) {
  await using platform = await startPlatform({ key: KEY, ...script });
  const outcome = await runClient(name, { url: platform.url, key: KEY, ...(id && { id }) });
  return { outcome, posts: await platform.posts(), log: await platform.log(), ...(await platform.session()) };
}

describe.concurrent.each(CLIENT_NAMES)('the %s client', name => {
  it('answers rounds: a plain body for one call, a batch for several, each with the whole tool_req', async () => {
    const calls = [
      { ...order('a', { order_id: 'A1' }), extra: { kept: true } },
      { tool_name: 'explode', args: {}, id: 'b' },
      { tool_name: 'nothing', args: {}, id: null },
      { tool_name: 'no_such_tool', args: {}, id: null },
    ];
    const { outcome, posts, settled } = await runSession(name, {
      rounds: [{ calls }, { calls: [order('c')] }],
      end: { answer: 'done' },
    });
    const success = { kind: 'tool_result', tool_req: order('c'), result: 'shipped' };
    expect(posts.map(({ body, status }) => [body, status])).toEqual([
      [{ type: 'batch', results: settled.slice(0, 4) }, 202],
      [success, 202],
    ]);
    expect(settled).toEqual([
      { kind: 'tool_result', tool_req: calls[0], result: 'shipped' },
      { kind: 'error_event', tool_req: calls[1], error: 'Order not found', origin: 'client' },
      { kind: 'tool_result', tool_req: calls[2], result: null },
      { kind: 'error_event', tool_req: calls[3], error: 'Unknown tool: no_such_tool', origin: 'client' },
      success,
    ]);
    expect(outcome).toMatchObject({ status: 'completed', answer: 'done', error: null });
    expect(statesOf(outcome)).toEqual([
      'running',
      'awaiting_tool_results a b nothing no_such_tool',
      'running',
      'awaiting_tool_results c',
      'running',
    ]);
  });

  it('creates a session with its tools, once, or uses the given one', async () => {
    const created = await runSession(name, {});
    expect(created.outcome.journal[0]).toMatchObject({ path: '/sessions', status: 201 });
    expect(created.log[0]).toMatchObject({
      headers: { authorization: `Bearer ${KEY}`, 'idempotency-key': expect.stringMatching(/^[\w-]{36}$/) },
      body: { agent: { tools: expect.arrayContaining([expect.objectContaining({ name: 'lookup_order' })]) } },
    });
    const given = await runSession(name, {}, 'session_1');
    expect(given.outcome.journal[0]).toMatchObject({ method: 'GET' });
  });

  it('repeats a GET after a 5xx, a POST after a 429, and accepts 409 as a response', async () => {
    const waits = { status: 429, headers: { 'retry-after': '0' } };
    const { outcome, posts } = await runSession(name, {
      rounds: [{ calls: [order('a')] }],
      gets: [500, 503, 'drop'],
      posts: { 1: waits, 2: waits, 3: 'end' },
    });
    expect(posts.map(({ status }) => status)).toEqual([429, 429, 409]);
    expect(outcome).toMatchObject({ status: 'interrupted', error: null });
  });

  it.each<[string, Script, number]>([
    ['422', { posts: { 1: { status: 422, body: { detail: [] } } } }, 422],
    ['500', { posts: { 1: { status: 500 } } }, 500],
  ])('does not repeat a POST after %s, and fails', async (_, script, status) => {
    const { outcome, posts } = await runSession(name, { rounds: [{ calls: [order('a')] }], ...script });
    expect(posts.map(({ body: _, ...post }) => post.status)).toEqual([status]);
    expect(outcome).toMatchObject({ error: expect.stringContaining(`tool_results: ${status}`) });
  });

  it('reports that its key was refused', async () => {
    await using platform = await startPlatform({ key: 'another' });
    const outcome = await runClient(name, { url: platform.url, key: KEY });
    expect(outcome).toMatchObject({ error: expect.stringContaining('create: 401') });
    expect(postsOf(outcome)).toEqual([]);
  });

  it('as a separate command, prints that and fails', async () => {
    await using platform = await startPlatform({ key: 'another' });
    const [program = '', ...args] = clientCommand(name);
    const env = { PATH: process.env['PATH'], API_KEY: KEY };
    const failed = promisify(execFile)(program, [...args, platform.url, 'new'], { env });
    const { code, stdout } = await failed.then(
      () => expect.unreachable(),
      error => error,
    );
    expect([code, readOutcome(stdout).error]).toEqual([1, expect.stringContaining('create: 401')]);
  });
});
