import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { valueAt } from '../../../src/util/values.js';
import { INITIALIZE, rpcCall } from '../../mock/mcp/start-mcp-mock.js';
import { startServing } from '../../support/serving.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startEverything, startMcpPeer, startSdkPeer } from '../support/mcp.js';
import { argv } from '../support/program.js';
import { startRecorder, startRecorderHere, transcriptIn } from '../support/recorder.js';
import { closedPort } from '../support/sockets.js';

let folder: Folder;
let saved: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  saved = folder.file('run.ndjson');
});
afterEach(() => folder[Symbol.asyncDispose]());

const record = (url: string, ...more: string[]) =>
  startRecorderHere(argv`--mcp ${url} --save ${saved} ${more}`);

const post = (url: string, message: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });

type Mode = 'legacy' | { readonly pin: string };

/** What the official client sees of a server. @param act calls it, and returns what it got */
async function seenBy(url: string, mode: Mode, act: (client: Client) => Promise<unknown>) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { size: 'l' } }));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const messages: unknown[] = [];
  const { onmessage } = transport;
  transport.onmessage = message => {
    messages.push(message);
    onmessage?.(message);
  };
  const got = await act(client);
  await transport.terminateSession();
  await client.close();
  return { messages, got, about: client.getServerVersion() };
}

const call = (client: Client, name: string, args = {}) =>
  client.callTool({ name, arguments: args }, { onprogress: () => {} }) as Promise<CallToolResult>;

async function callAll(client: Client) {
  const { tools } = await client.listTools();
  const answers = [await call(client, 'echo', { text: 'hi' }), await call(client, 'steps')];
  return { names: tools.map(({ name }) => name), answers };
}

describe('record --mcp <url>, the official client and', () => {
  test.each<[name: string, mode: Mode, asks: boolean, options: string[]]>([
    ['an SDK server of 2025-11-25', 'legacy', false, ['--both']],
    ['an SDK server of 2026-07-28', { pin: '2026-07-28' }, true, []],
  ])('%s: the client sees the same; the calls are shown, served again, and not checked', async (...row) => {
    const [, mode, asks, options] = row;
    await using server = await startSdkPeer(...options);
    await using recorder = await record(server.url);
    expect(recorder.url).toBe(`http://127.0.0.1:${recorder.port}/mcp`);
    const act = async (client: Client) => [await callAll(client), asks && (await call(client, 'pick'))];
    const direct = await seenBy(server.url, mode, act);
    const through = await seenBy(recorder.url, mode, act);
    expect(through).toEqual(direct);
    expect(through.messages.some(each => valueAt(each, 'method') === 'notifications/progress')).toBe(true);
    const { status, stderr } = await recorder.stop();
    expect(status).toBe(0);
    expect(stderr).toMatch(/→ tools\/call steps call-2 \(mcp\) {2}200 in /);
    expect(stderr).toMatch(/\n(2|3) calls: \1 with a result\. Next: protocol-cli render \S+run\.ndjson\n$/);
    const { stdout } = await runHere(argv`render ${saved}`);
    expect(stdout).toMatch(/progress 1 of 2: step 1[\s\S]*progress 2 of 2: step 2[\s\S]*done/);
    if (asks) expect(stdout).toMatch(/the tool asks: Which size\?[\s\S]*Large/);
    const again = argv`invoke --mcp ${`${process.execPath} bin/protocol-cli.cjs mock-tool ${saved} --mcp stdio -q`}`;
    expect((await runHere([...again, 'echo', 'text=hi'])).stdout).toBe('hi');
    expect((await runHere(argv`check ${saved}`)).status).toBe(3);
  });

  test('the reference server, with sessions and streams of its own', async () => {
    await using server = await startEverything();
    await using recorder = await record(server.url);
    const act = async (client: Client) => {
      const { tools } = await client.listTools();
      const long = { duration: 0.2, steps: 2 };
      return [
        tools,
        await call(client, 'echo', { message: 'hi' }),
        await call(client, 'trigger-long-running-operation', long),
        await call(client, 'trigger-elicitation-request'),
        (await client.listResources()).resources.length,
      ];
    };
    const direct = await seenBy(server.url, 'legacy', act);
    const through = await seenBy(recorder.url, 'legacy', act);
    expect(through.got).toEqual(direct.got);
    expect(through.about).toEqual(direct.about);
    await recorder.stop();
    const { events, faults } = await transcriptIn(saved);
    expect(faults).toEqual([]);
    const ended = events.filter(event => event.kind === 'response' && event.calls && event.status === 200);
    expect(ended).toHaveLength(4); // the answer to the form is one
    expect((await runHere(argv`render ${saved}`)).stdout).toMatch(/progress 2 of 2[\s\S]*the tool asks: /);
  });
});

const events = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's1' });

describe('an answer', () => {
  test('is passed on while it comes, byte for byte', async () => {
    let stream: ServerResponse | undefined;
    await using server = await startServing(response => {
      stream = events(response);
      stream.flushHeaders();
    });
    await using recorder = await record(`${server.url}mcp`);
    const answer = await post(recorder.url, rpcCall(1), { 'mcp-session-id': 's1' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'mcp-session-id': 's1',
    });
    const reader = answer.body?.getReader();
    const parts = [
      ': hello\n\n',
      'event: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":',
      '{"content":[{"type":"text","text":"\u00e9"}]}}\r\n\r\n',
      'data: no JSON\n\n',
    ];
    for (const part of parts) {
      stream?.write(part);
      let got = '';
      while (got.length < part.length) got += Buffer.from((await reader?.read())?.value ?? []).toString();
      expect(got).toBe(part);
    }
    stream?.end();
    expect((await reader?.read())?.done).toBe(true);
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/mcp',
      headers: { 'mcp-session-id': 's1' },
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(rpcCall(1));
    const { stderr } = await recorder.stop();
    expect(stderr).toContain('the server sent what is not a message of JSON-RPC: " no JSON');
    expect(await readFile(saved, 'utf8')).toContain('\u00e9');
  });

  test('has its status, its headers and its body; a GET and a DELETE pass, too', async () => {
    await using server = await startServing((response, { method }) =>
      response
        .writeHead(method === 'POST' ? 401 : 405, { 'www-authenticate': 'Bearer', allow: 'POST' })
        .end('no'),
    );
    await using recorder = await record(`${server.url}mcp?a=b`);
    expect(recorder.url).toMatch(/\/mcp\?a=b$/);
    const refused = await post(recorder.url, rpcCall(1), { authorization: 'Bearer c4n4ry-of-auth' });
    expect([refused.status, refused.headers.get('www-authenticate'), await refused.text()]).toEqual([
      401,
      'Bearer',
      'no',
    ]);
    for (const method of ['GET', 'DELETE']) expect((await fetch(recorder.url, { method })).status).toBe(405);
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /mcp?a=b',
      'GET /mcp?a=b',
      'DELETE /mcp?a=b',
    ]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer c4n4ry-of-auth');
    await recorder.stop();
    const text = await readFile(saved, 'utf8');
    expect(text).not.toContain('c4n4ry');
    const { events: all } = await transcriptIn(saved);
    expect(all).toContainEqual(expect.objectContaining({ kind: 'response', status: 401, calls: ['call-1'] }));
  });

  test('that is an error of JSON-RPC is recorded as the result of the call, whatever its status', async () => {
    await using server = await startServing((response, { body }) => {
      const error = { code: -32600, message: 'no back-channel', data: [1] };
      const answer = JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, error });
      response.writeHead(400, { 'content-type': 'application/json' }).end(answer);
    });
    await using recorder = await record(`${server.url}mcp`);
    expect((await post(recorder.url, rpcCall(1))).status).toBe(400);
    expect((await recorder.stop()).stderr).toContain('1 call: 1 with a result');
    const again = `${process.execPath} bin/protocol-cli.cjs mock-tool ${saved} --mcp stdio -q`;
    const { status, stdout } = await runHere(argv`invoke --mcp ${again} op -o json`);
    expect([status, JSON.parse(stdout).outcome]).toMatchObject([5, { code: '-32600', data: [1] }]);
  });

  test('that breaks off is broken off on both sides', async () => {
    await using server = await startServing(response => {
      events(response).write('data: {"half":');
      setImmediate(() => response.destroy());
    });
    await using recorder = await record(`${server.url}mcp`);
    const answer = await post(recorder.url, rpcCall(1));
    await expect(answer.text()).rejects.toThrow();
    await recorder.printsToStderr(/→ tools\/call op call-1 \(mcp\) {2}broken off: "?ECONNRESET/);
    const { stderr } = await recorder.stop();
    expect(stderr).not.toContain('refused');
  });

  test('is not awaited when the client is gone: the server sees that, too', async () => {
    let isGone = false;
    await using server = await startServing(response => {
      events(response).flushHeaders();
      response.once('close', () => {
        isGone = true;
      });
    });
    await using recorder = await record(`${server.url}mcp`);
    const abort = new AbortController();
    await fetch(recorder.url, { signal: abort.signal });
    abort.abort();
    await eventually('the server sees it', () => isGone);
    await recorder.stop();
  });
});

test('an open stream does not delay its end', async () => {
  await using server = await startServing(response => void events(response).flushHeaders());
  await using recorder = await record(`${server.url}mcp`, '--drain', '1h');
  const stream = await fetch(recorder.url);
  expect(await recorder.stop('SIGINT')).toMatchObject({ status: 0 });
  await expect(stream.text()).rejects.toThrow();
});

test('a request that is not JSON-RPC passes, with a warning; a server that is away is a 502', async () => {
  await using peer = await startMcpPeer();
  await using recorder = await record(peer.url);
  expect((await post(recorder.url, '{"jsonrpc":"1.0","id":1,"method":"tools/list"}')).status).toBe(200);
  await recorder.printsToStderr(/! the client sent what is not a message of JSON-RPC: "\{"jsonrpc":"1\.0"/);
  await recorder.stop();
  const away = `http://127.0.0.1:${await closedPort()}/mcp`;
  await using alone = await startRecorder(argv`--mcp ${away} -o ndjson`);
  const answer = await post(alone.url, INITIALIZE);
  expect([answer.status, await answer.text()]).toEqual([
    502,
    'The recorder got no answer from the server: ECONNREFUSED.\n',
  ]);
  await alone.printsToStdout(/"kind":"broken".*"ECONNREFUSED"/);
});

test('a message that is too long to be recorded passes', async () => {
  await using peer = await startMcpPeer();
  await using recorder = await record(peer.url, '--max-body', '2k');
  const answer = await post(recorder.url, rpcCall(1, 'echo', { text: 'x'.repeat(1_000), times: 9 }));
  expect(valueAt(await answer.json(), 'result', 'content', 0, 'text')).toHaveLength(9_000);
  await recorder.printsToStderr(/! the server sent more than 2048 bytes at once, which is not recorded/);
  await recorder.stop();
});

test.each([
  ['a command', argv`--mcp cat --save x.ndjson`, 'the URL of a server, or stdio'],
  ['another URL', argv`http://127.0.0.1:1 --mcp http://127.0.0.1:2 --save x.ndjson`, 'no other arguments'],
  ['callbacks', argv`--mcp http://127.0.0.1:2 --allow-callback http://a --save x.ndjson`, 'for callbacks'],
])('usage: %s', async (_, words, message) => {
  const { status, stderr } = await runHere(['record', ...words]);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});
