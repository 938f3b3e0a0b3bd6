import { describe, expect, test } from 'vitest';
import type { Wire } from '../../src/runtime/notices.js';
import {
  cancelToolCall,
  closeThread,
  type NoticeAnswer,
  notify,
  respondToChoice,
} from '../../src/runtime/notices.js';
import { KEY, THREAD } from '../events/build.js';
import { type Reply, startServing } from '../support/serving.js';
import { workbench } from './wire-of.js';

const CALL = { key: KEY, thread: THREAD, id: KEY, signal: new AbortController().signal };
const MOVE = { session_id: 's', destination_url: 'http://other.example' };
const NOTICES: [string, (wire: Wire, base: string) => Promise<NoticeAnswer>, string, object][] = [
  ['close_thread', (wire, base) => closeThread(wire, base, THREAD), '/close_thread', { thread_id: THREAD }],
  [
    'cancel_tool_call',
    (wire, base) => cancelToolCall(wire, base, CALL),
    '/cancel_tool_call',
    { thread_id: THREAD, tool_call_id: KEY },
  ],
  [
    'migrate',
    (wire, base) => notify(wire, base, { kind: 'migrate', message: MOVE }),
    '/migrate',
    { session_id: 's', destination_url: 'http://other.example' },
  ],
  [
    'RT-CHOICE: a selection',
    (wire, base) => respondToChoice(wire, `${base}/choices/1?x=2`, CALL, { id: KEY, selected: 1 }),
    '/choices/1?x=2',
    { id: KEY, selected: 1 },
  ],
];

describe.each(NOTICES)('%s', (_, send, path, body) => {
  test('POSTs exactly its fields', async () => {
    await using server = await startServing(200);
    await using bench = workbench();
    expect(await send(bench.wire, server.url.slice(0, -1))).toMatchObject({ kind: 'answered', status: 200 });
    expect(server.requests).toMatchObject([{ method: 'POST', url: path }]);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(body);
  });

  test.each<Reply>([500, 302, 'reset'])(
    'RT-NOTIFY: after %s it is not sent again, and nothing is thrown',
    async reply => {
      await using server = await startServing(reply);
      await using bench = workbench();
      const expected = reply === 'reset' ? { kind: 'unanswered' } : { kind: 'answered', status: reply };
      expect(await send(bench.wire, server.url.slice(0, -1))).toMatchObject(expected);
      expect(server.requests).toHaveLength(1);
      expect([...bench.history.untracked.values()]).toHaveLength(1);
    },
  );
});

test('RT-CHOICE: a slow response_url gets more time than a notice, and one request', async () => {
  await using server = await startServing(response => {
    setTimeout(() => response.writeHead(200).end(), 1_100);
  });
  await using bench = workbench();
  const base = server.url.slice(0, -1);
  const [sent, closed] = await Promise.all([
    respondToChoice(bench.wire, `${base}/choices/1`, CALL, { id: KEY, selected: 1 }),
    closeThread(bench.wire, base, THREAD),
  ]);
  expect([sent, closed]).toMatchObject([{ kind: 'answered', status: 200 }, { kind: 'unanswered' }]);
  expect(server.requests.filter(({ url }) => url === '/choices/1')).toHaveLength(1);
});

/** Returns the bodies of the recorded answers. */
function bodiesOn({ log }: Wire): string[] {
  const said: string[] = [];
  log.subscribe(event => {
    if (event.kind === 'response' && event.body) said.push(Buffer.from(event.body.bytes).toString());
  });
  return said;
}

describe('the answer to a notice', () => {
  const close = { kind: 'close', message: { thread_id: THREAD } } as const;

  test('reports a refusal with the beginning of its body', async () => {
    await using server = await startServing(response => response.writeHead(409).end('x'.repeat(10_000)));
    await using bench = workbench();
    const answer = await notify(bench.wire, server.url.slice(0, -1), close);
    expect(answer).toMatchObject({ kind: 'answered', status: 409, excerpt: 'x'.repeat(4_096) });
  });

  test('a body after a 200 is not the reason of a refusal; its size and its beginning are recorded', async () => {
    await using server = await startServing(response =>
      response.writeHead(200, { 'content-length': 10_000 }).end('x'.repeat(10_000)),
    );
    await using bench = workbench();
    const said = bodiesOn(bench.wire);
    const answer = await notify(bench.wire, server.url.slice(0, -1), close);
    expect(answer).toEqual({ kind: 'answered', status: 200, excerpt: '', bodySize: 10_000 });
    expect(said).toEqual(['x'.repeat(4_096)]);
  });

  test('an endless body after a 200 is not waited for', async () => {
    await using server = await startServing(response => response.writeHead(200).write('hello'));
    await using bench = workbench();
    const said = bodiesOn(bench.wire);
    const answer = await notify(bench.wire, server.url.slice(0, -1), close, { timeoutMs: 60_000 });
    expect(answer).toEqual({ kind: 'answered', status: 200, excerpt: '', bodySize: null });
    expect(said).toEqual(['hello']);
  });

  test.each([
    ['detects a body of unknown size', ['h', 'ello'], null],
    ['an empty body of unknown size does not count', [], 0],
  ])('%s', async (_, chunks, bodySize) => {
    await using server = await startServing(response => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      for (const chunk of chunks) response.write(chunk);
      response.end();
    });
    await using bench = workbench();
    const answer = await notify(bench.wire, server.url.slice(0, -1), close);
    expect(answer).toEqual({ kind: 'answered', status: 200, excerpt: '', bodySize });
  });

  test.each([
    ['http://127.0.0.1:1', /ECONNREFUSED/, /Is the tool running/],
    ['http://169.254.169.254', /was not called/, /never link-local/],
  ])('%s does not answer: reports the reason', async (base, reason, hint) => {
    await using bench = workbench();
    expect(await notify(bench.wire, base, close)).toEqual({
      kind: 'unanswered',
      reason: expect.stringMatching(reason),
      hint: expect.stringMatching(hint),
    });
  });

  test('waits no longer than the time limit', async () => {
    await using server = await startServing(() => {});
    await using bench = workbench();
    const answer = await notify(bench.wire, server.url.slice(0, -1), close, { timeoutMs: 50 });
    expect(answer).toMatchObject({ kind: 'unanswered', reason: expect.stringContaining('50') });
  });
});
