import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { INITIALIZE, rpcCall } from '../../mock/mcp/start-mcp-mock.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { loadedBy } from '../support/loaded.js';
import { olderMcpClient } from '../support/older-mcp-client.js';
import { type Ended, run, start } from '../support/program.js';
import { serverCommand } from '../support/server.js';

const BIN = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));
const SDK = import.meta.resolve('@modelcontextprotocol/client');

const FIXTURES = `
version: 1
toolset:
  name: shop
  tools:
    - name: pay
      description: Pays
      inputSchema: { type: object, properties: { amount: { type: number } } }
      annotations: { destructive: true }
    - { name: raw, description: Says it raw, inputSchema: {} }
    - { name: hush, description: Says nothing, inputSchema: {} }
fixtures:
  - id: pay
    match: { operation: pay }
    reply: { payload: { paid: '{{arguments.amount}}', token: abcd1234 } }
    faults: { callback: [drop] }
  - id: raw
    match: { operation: raw }
    reply: { result: { content: [{ type: text, text: token abcd1234 }], structuredContent: { a: 1 }, _meta: { own: 1 } } }
  - id: hush
    match: { operation: hush }
    expect: { calls: { min: 0 } }
    reply: { silence: true }
`;
const readySchema = z.strictObject({ port: z.int(), url: z.string(), seed: z.string(), mcp: z.string() });
const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/proc/nowhere', NO_COLOR: '1' };

async function withFixtures(): Promise<Folder> {
  const folder = await temporaryFolder();
  await folder.write('fixtures.yaml', FIXTURES);
  return folder;
}

const stdioArgs = (...more: string[]) => [BIN, 'mock-tool', 'fixtures.yaml', '--mcp', 'stdio', ...more];

/** What a client of any version is shown. */
async function shows(client: Pick<Client, 'callTool'>) {
  const pay = (await client.callTool({ name: 'pay', arguments: { amount: 5 } })) as CallToolResult;
  expect(pay).toMatchObject({
    content: [{ type: 'text', text: '{"paid":5,"token":"[redacted]"}' }],
    isError: false,
  });
  const raw = (await client.callTool({ name: 'raw', arguments: {} })) as CallToolResult;
  expect(raw).toMatchObject({
    content: [{ type: 'text', text: 'token abcd1234' }],
    isError: false,
    structuredContent: { a: 1 },
    _meta: { own: 1 },
  });
}

describe.concurrent('seed 003, over stdio: the official client', () => {
  test.each(['legacy', { pin: '2026-07-28' }] as const)('%j', async mode => {
    await using folder = await withFixtures();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: stdioArgs(),
      cwd: folder.path,
      env: ENV,
      stderr: 'pipe',
    });
    let said = '';
    transport.stderr?.on('data', chunk => {
      said += chunk;
    });
    const client = new Client({ name: 'x', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['pay', 'raw', 'hush']);
    await shows(client);
    const abort = new AbortController();
    const hush = client
      .callTool({ name: 'hush', arguments: {} }, { signal: abort.signal })
      .catch(() => 'off');
    await eventually('it is called', () => said.includes('gets no result (planned)'));
    abort.abort();
    expect(await hush).toBe('off');
    await eventually('it is canceled', () => said.includes('was canceled'));
    await client.close();
    expect(JSON.parse(said.slice(0, said.indexOf('\n')))).toEqual({ mcp: 'stdio', seed: expect.any(String) });
    expect(said).toContain('warning: faults apply to RAP only and are ignored (pay)');
    expect(said).not.toContain('abcd1234');
  });

  test('the previous SDK, with its protocol version', async () => {
    await using folder = await withFixtures();
    const program = { command: process.execPath, args: stdioArgs('-q'), cwd: folder.path, env: ENV };
    const client = await olderMcpClient(program);
    await shows(client);
    await client.close();
  });
});

describe.concurrent('stdout is JSON-RPC only', () => {
  const conversation = (...messages: readonly unknown[]) =>
    [INITIALIZE, ...messages]
      .map(each => (typeof each === 'string' ? each : JSON.stringify(each)))
      .map(line => `${line}\n`)
      .join('');
  const messagesOf = ({ stdout }: Ended) =>
    stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));

  test('every line is JSON-RPC, whatever a handler, a client or -o ndjson writes', async () => {
    await using folder = await temporaryFolder();
    const handle = "console.log('called'); process.stdout.write('raw'); return 1;";
    const tool = `export default { name: 'op', description: 'o', inputSchema: {}, handle() { ${handle} } };`;
    await folder.write('tool.mjs', tool);
    const stdin = conversation('no JSON at all', '{"half":', { hello: 1 }, rpcCall(1, 'op'));
    const args = ['mock-tool', '--handlers', 'tool.mjs', '--mcp', 'stdio', '-o', 'ndjson'];
    const ended = await run(args, { cwd: folder.path, stdin });
    expect(messagesOf(ended)).toMatchObject([
      { jsonrpc: '2.0', id: 'init' },
      { jsonrpc: '2.0', id: 1, result: { content: [{ text: '1' }] } },
    ]);
    expect(ended.status).toBe(0);
    expect(ended.stderr).toContain('called');
    expect(ended.stderr).toContain('invalid JSON in a line');
    expect(ended.stderr).toContain('not a JSON-RPC message');
  });

  test('verification decides the exit status when the client is gone; a report is written to its file', async () => {
    await using folder = await withFixtures();
    const report = `json:${folder.file('report.json')}`;
    const args = [
      'mock-tool',
      folder.file('fixtures.yaml'),
      '--mcp',
      'stdio',
      '--verify',
      '-q',
      '--reporter',
      report,
    ];
    const ended = await run(args, { stdin: conversation(rpcCall(1, 'pay'), rpcCall(2, 'po')) });
    expect(ended.status).toBe(1);
    expect(ended.stderr).toMatch(/fixture raw .*was not used/);
    const example = { operation: 'po', reason: expect.stringContaining('unknown operation') };
    expect(JSON.parse(await readFile(folder.file('report.json'), 'utf8'))).toMatchObject({
      ...{ ok: false, calls: 2, unmatched: { count: 1, examples: [example] }, undelivered: { count: 0 } },
    });
    const good = await run(args, { stdin: conversation(rpcCall(1, 'pay'), rpcCall(2, 'raw')) });
    expect([good.status, messagesOf(good).map(({ id }) => id)]).toEqual([0, ['init', 1, 2]]);
  });

  test('a client that disconnects, and SIGTERM, end with 0', async () => {
    await using folder = await withFixtures();
    const { child, ended } = start(['mock-tool', 'fixtures.yaml', '--mcp', 'stdio'], {
      cwd: folder.path,
      stdin: conversation(rpcCall(1, 'pay')),
    });
    child.stdout.destroy();
    expect((await ended).status).toBe(0);
  });
});

describe.concurrent('seed 003, over Streamable HTTP: the official client', () => {
  const { startHere } = serverCommand(['mock-tool', '--mcp', 'http'], readySchema, () => ({}));
  const serving = (folder: Folder, ...more: string[]) => startHere([folder.file('fixtures.yaml'), ...more]);

  test.each(['legacy', { pin: '2026-07-28' }] as const)('%j', async mode => {
    await using folder = await withFixtures();
    await using server = await serving(folder, '-o', 'plain');
    expect(server.mcp).toBe(`${server.url}/mcp`);
    const client = new Client({ name: 'x', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.mcp)));
    await shows(client);
    await server.printsToStderr(/raw \S+ \(\S+\) answered after/);
    await client.close();
    expect((await server.stop()).status).toBe(0);
    expect(server.stderr()).not.toContain('refused');
  });

  test('the previous SDK, with its protocol version', async () => {
    await using folder = await withFixtures();
    await using server = await serving(folder, '-q');
    const client = await olderMcpClient(new URL(server.mcp));
    await shows(client);
    await client.close();
  });

  test('a command gets MCP_URL, and its calls are verified', async () => {
    await using folder = await withFixtures();
    const client = (calls: string) => `
      import { writeFileSync } from 'node:fs';
      import { Client, StreamableHTTPClientTransport } from '${SDK}';
      if (process.env.TOOL_URL) throw new Error('no RAP is spoken');
      const client = new Client({ name: 'x', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)));
      ${calls}
      await client.close();`;
    const said = folder.file('said');
    const pay = `
      const paid = await client.callTool({ name: 'pay', arguments: { amount: 1 } });
      writeFileSync(${JSON.stringify(said)}, paid.content[0].text);`;
    const half = await folder.write('half.mjs', client(pay));
    const all = await folder.write(
      'all.mjs',
      client(`${pay} await client.callTool({ name: 'raw', arguments: {} });`),
    );
    const served = (file: string) =>
      runHere([
        ...['mock-tool', folder.file('fixtures.yaml'), '--mcp', 'http', '-q'],
        ...['--', process.execPath, file],
      ]);
    const { status, stderr } = await served(half);
    expect([status, await readFile(said, 'utf8')]).toEqual([1, '{"paid":1,"token":"[redacted]"}']);
    expect(stderr).toMatch(/mock-tool shop, MCP at http:/);
    expect((await served(all)).status).toBe(0);
  });

  test('threats, rows 2 and 3: requests with a foreign Host or from a web page are refused and reported', async () => {
    await using folder = await withFixtures();
    await using server = await serving(folder);
    const post = async (headers: Record<string, string>) => {
      const sent = request(server.mcp, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      });
      sent.end(JSON.stringify(INITIALIZE));
      const [response] = await once(sent, 'response');
      response.resume();
      return response.statusCode;
    };
    expect(await post({ host: 'evil.example' })).toBe(403);
    expect(await post({ origin: 'http://evil.example' })).toBe(403);
    expect(await post({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await post({ 'content-type': 'text/plain' })).toBe(415);
    await server.printsToStderr(/refused with 403.*POST \/mcp/);
  });

  test('--allow-origin accepts the pages of one origin only', async () => {
    await using folder = await withFixtures();
    await using server = await serving(folder, '--allow-origin', 'http://localhost:6274');
    const send = async (method: string, path: string, origin: string) => {
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, origin, 'sec-fetch-site': 'cross-site' };
      const sent = request(`${server.url}${path}`, { method, headers });
      sent.end(method === 'POST' ? JSON.stringify(INITIALIZE) : undefined);
      const [response] = await once(sent, 'response');
      response.resume();
      return [response.statusCode, response.headers['access-control-allow-origin']];
    };
    expect(await send('OPTIONS', '/mcp', 'http://localhost:6274')).toEqual([204, 'http://localhost:6274']);
    expect(await send('POST', '/mcp', 'http://localhost:6274')).toEqual([200, 'http://localhost:6274']);
    expect(await send('POST', '/mcp', 'http://evil.example')).toEqual([403, undefined]);
    expect(await send('GET', '/__mock__/journal', 'http://localhost:6274')).toEqual([403, undefined]);
  });

  test('the events of a call are a transcript', async () => {
    await using folder = await withFixtures();
    await using server = await serving(folder, '-o', 'ndjson');
    const client = new Client({ name: 'x', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.mcp)));
    await client.callTool({ name: 'pay', arguments: { amount: 5 } });
    await client.close();
    const { stdout } = await server.stop();
    const events = stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(line => JSON.parse(line));
    expect(events.map(({ kind }) => kind)).toEqual([
      'header',
      'body',
      'request',
      'matched',
      'shaped',
      'body',
      'response',
      'end',
    ]);
    expect(events.find(({ kind }) => kind === 'request')).toMatchObject({
      dialect: 'mcp',
      method: 'tools/call',
      from: 'client',
    });
  });
});

describe.concurrent('conflicting options', () => {
  test.each([
    [
      ['--mcp', 'stdio', '--max-pending', '9', '--retries', '2'],
      /these options are for callbacks.*: --retries, --max-pending\nhint: Leave them out, or --mcp/,
    ],
    [
      ['--mcp', 'http', '--allow-callback', 'http://a', '--max-pending', '1', '--allow-repeats'],
      /--allow-callback, --max-pending, --allow-repeats/,
    ],
    [
      ['--mcp', 'stdio', '--port', '1', '--host', '::1', '--allow-host', 'a'],
      /these options are for a network server.*: --host, --port, --allow-host/,
    ],
    [['--mcp', 'stdio', '--', 'true'], /would both use stdin and stdout\nhint: .*MCP_URL/],
    [['--mcp', 'http', '-o', 'ui'], /-o ui does not show MCP/],
    [['--mcp', 'stdio', '--reporter', 'json'], /--reporter json and --mcp stdio would both write to stdout/],
    [['--allow-origin', 'http://a'], /--allow-origin is for --mcp http/],
    [['--mcp', 'http', '--allow-origin', 'http://a/b'], /Give an origin such as/],
    [['--mcp', 'carrier-pigeon'], /Allowed choices are stdio, http/],
  ])('%j', async (args, says) => {
    const { status, stdout, stderr } = await runHere(['mock-tool', ...args]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
  });
});

describe.concurrent('without --mcp nothing of the SDK is loaded', () => {
  const SDK_WORDS = /io\.modelcontextprotocol|Mcp-Session-Id/;

  test('mock-tool', async () => {
    const texts = [...(await loadedBy(['mock-tool', '-q', '--', 'true'])).values()];
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.filter(text => SDK_WORDS.test(text))).toEqual([]);
  });

  test('with --mcp it is', async () => {
    const texts = [...(await loadedBy(['mock-tool', '--mcp', 'stdio', '-q'])).values()];
    expect(texts.some(text => SDK_WORDS.test(text))).toBe(true);
  });
});
