import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { type MockHere, startMockHere } from '../support/mock.js';

/** Unwanted clients are refused on every route of the mock. */
const FIXTURES = `
version: 1
toolset:
  name: guarded
  needsMigration: true
  tools:
    - { name: login, description: Needs consent., inputSchema: { type: object } }
    - { name: ask, description: Asks., inputSchema: { type: object } }
fixtures:
  - match: { operation: login }
    reply: { oauth: {}, granted: { payload: in }, refused: { payload: out } }
  - match: { operation: ask }
    reply: { choice: { prompt: p, choices: [a], default: 0 }, then: { a: { payload: a } } }
`;
const ROUTES = [
  ['GET', '/.well-known/rap-toolset'],
  ['POST', '/invoke'],
  ['POST', '/close_thread'],
  ['POST', '/cancel_tool_call'],
  ['POST', '/migrate'],
  ['GET', '/__mock__/journal'],
  ['POST', '/__mock__/reset'],
  ['POST', '/__mock__/fire'],
] as const;

let mock: MockHere;
beforeAll(async () => {
  await using folder = await temporaryFolder();
  mock = await startMockHere([await folder.write('f.yaml', FIXTURES), '-q']);
});
afterAll(() => mock.stop());

describe('every route', () => {
  it.each(ROUTES)(
    '%s %s: rows 2, 3: refuses a foreign Host and a web page, and answers others',
    async (method, path) => {
      const status = async (headers: Record<string, string>) =>
        (await ask(mock.url + path, { method, headers, ...(method === 'POST' && { body: '{}' }) })).status;
      expect(await status({})).not.toBe(403);
      expect(await status({ host: `localhost:${mock.port}` })).not.toBe(403);
      expect(await status({ host: 'evil.example' })).toBe(403);
      expect(await status({ host: `mock.evil.example:${mock.port}` })).toBe(403);
      expect(await status({ origin: 'https://evil.example' })).toBe(403);
      expect(await status({ origin: 'null' })).toBe(403);
      expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
      expect((await ask(mock.url + path, { method: 'OPTIONS', headers: { origin: mock.url } })).status).toBe(
        403,
      );
    },
  );

  it('row 3: a web page cannot answer a choice; only the consent page is for browsers, and for no other site', async () => {
    await using runtime = await openRuntime();
    const asking = await runtime.invoke(mock.url, 'ask', {});
    const response = String((await asking.next()).body?.['response_url']);
    const selection = JSON.stringify({ id: asking.invocation.id, selected: 0 });
    expect((await ask(response, { body: selection, headers: { origin: mock.url } })).status).toBe(403);
    const login = await runtime.invoke(mock.url, 'login', {});
    const page = String((await login.next()).body?.['auth_url']);
    const visit = (headers: Record<string, string>, method = 'GET') => ask(page, { method, headers });
    expect((await visit({ 'sec-fetch-site': 'none' })).status).toBe(200);
    expect(
      (await visit({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 'POST')).status,
    ).toBe(403);
    expect((await visit({ host: 'evil.example' })).status).toBe(403);
    expect((await visit({})).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('row 3: refused requests are reported', async () => {
    await using other = await startMockHere([]);
    await ask(`${other.url}/invoke`, { headers: { origin: 'https://evil.example' }, body: '{}' });
    await other.printsToStderr(/refused with 403.*POST \/invoke/);
  });

  it.each(['Host: [', 'Host: a\r\nHost: b', 'Host:', `Host: ${'a'.repeat(8 * 1024)}`])(
    'row 4: %s is answered 400, and the next request is served',
    async header => {
      const socket = createConnection(mock.port, '127.0.0.1');
      socket.end(`POST /invoke HTTP/1.1\r\n${header}\r\nContent-Length: 0\r\n\r\n`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
      expect((await ask(`${mock.url}/invoke`, { body: '{}' })).status).toBe(200);
    },
  );
});

describe.concurrent('addresses', () => {
  const [outside] = Object.values(networkInterfaces())
    .flat()
    .flatMap(about => (about && !about.internal && about.family === 'IPv4' ? [about.address] : []));

  it('row 5: loopback only by default, without a warning', async () => {
    await using local = await startMockHere([]);
    if (outside) await expect(ask(`http://${outside}:${local.port}/`)).rejects.toThrow(/ECONNREFUSED/);
    expect((await local.stop()).stderr).toBe('');
  });

  it.each(['0.0.0.0', '::', '0', '[::]', '*', '0x0'])(
    'row 5: %s is open to the network, with a warning',
    async host => {
      await using open = await startMockHere(['--host', host]);
      expect(open.url).toBe(`http://127.0.0.1:${open.port}`);
      expect((await ask(`${open.url}/.well-known/rap-toolset`, { method: 'GET' })).status).toBe(200);
      expect((await open.stop()).stderr).toBe(
        `warning: the server is open to the network (--host ${host})\n`,
      );
    },
  );

  it('row 2: --allow-host accepts a name, which the toolset then uses', async () => {
    await using named = await startMockHere(['--allow-host', 'mock']);
    const { status, body } = await ask(`${named.url}/.well-known/rap-toolset`, {
      method: 'GET',
      headers: { host: `mock:${named.port}` },
    });
    expect(status).toBe(200);
    expect(JSON.parse(body).endpoint).toBe(`http://mock:${named.port}/invoke`);
  });
});
