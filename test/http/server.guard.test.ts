import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Route } from '../../src/http/route.js';
import { echo, hello, rawExchange, request, statusOf, type Watched, watchedServer } from './raw.js';

const run = promisify(execFile);

let server: Watched;

beforeEach(async () => {
  server = await watchedServer({ allowedHosts: ['Tools.example', 'other.example:8080'] });
});

afterEach(() => server.close());

const getWith = async (...headers: string[]) =>
  statusOf(await rawExchange(server.port, request('GET /hello', ...headers)));

const getAt = (host: string) => getWith(`Host: ${host}`);

const own = () => `Host: 127.0.0.1:${server.port}`;

const postTo = (path: string, ...headers: string[]) =>
  rawExchange(server.port, request(`POST ${path}`, own(), 'Content-Length: 2', ...headers), '{}');

describe('the Host header', () => {
  it('row 2: serves loopback names, with the server’s port and without a port', async () => {
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect([name, await getAt(name), await getAt(`${name}:${server.port}`)]).toEqual([name, 200, 200]);
    }
  });

  it('row 2: serves an allowed name on any port, or only on the port it was given with', async () => {
    expect(await getAt('tools.example')).toBe(200);
    expect(await getAt('TOOLS.example:9999')).toBe(200);
    expect(await getAt('other.example:8080')).toBe(200);
    expect(await getAt('other.example')).toBe(403);
  });

  it('serves a target that is the whole URL; its host counts, not that of the Host header (RFC 9112, 3.2.2)', async () => {
    const get = async (target: string, ...headers: string[]) =>
      statusOf(await rawExchange(server.port, request(`GET ${target}`, ...headers)));
    const whole = `http://127.0.0.1:${server.port}/hello`;
    expect(await get(whole, own())).toBe(200);
    expect(await get(`HTTP://LocalHost:${server.port}/hello?a=1`, own())).toBe(200);
    expect(await get('http://tools.example/hello', own())).toBe(200);
    expect(await get(whole, 'Host: evil.example')).toBe(200);
    expect(await get('http://evil.example/hello', own())).toBe(403);
    expect(await get(`http://me@127.0.0.1:${server.port}/hello`, own())).toBe(400);
    expect(await get(whole)).toBe(400);
    expect(await get(`http://127.0.0.1:${server.port}?a=1`, own())).toBe(404);
    expect(server.refusals.at(-1)?.request.target).toBe('/?a=1');
  });

  it.each([
    'evil.example',
    '127.0.0.1:1',
    'localhost.',
    '127.0.0.1.evil.example',
    '127.1',
    '169.254.169.254',
  ])('row 2: refuses a foreign Host: %s', async host => {
    expect(await getAt(host)).toBe(403);
    expect(server.refusals).toMatchObject([
      {
        ...{ status: 403, reason: 'host', detail: expect.any(String) },
        request: { method: 'GET', target: '/hello', headers: { host } },
      },
    ]);
  });

  it.each([
    ['a bracket', 'Host: ['],
    ['8 KB', `Host: ${'a'.repeat(8192)}`],
    ['a repeated one', 'Host: 127.0.0.1\r\nHost: 127.0.0.1'],
    ['an empty one', 'Host: '],
    ['none', 'X: y'],
    ['a user', 'Host: me@127.0.0.1'],
    ['a list', 'Host: 127.0.0.1, 127.0.0.1'],
  ])('row 4: answers 400 to a malformed Host and serves the next request: %s', async (_, header) => {
    expect(await getWith(header)).toBe(400);
    expect(await getWith(own())).toBe(200);
    expect(server.refusals.map(refusal => refusal.reason)).toEqual(['malformed']);
  });

  const [external] = Object.values(networkInterfaces())
    .flat()
    .filter(each => each?.family === 'IPv4' && !each.internal);

  it.skipIf(!external)(
    'row 2: on a wildcard address, accepts loopback names from this machine only',
    async () => {
      await using open = await watchedServer({ host: '0.0.0.0', allowedHosts: ['tools.example'] });
      const from = (address: string | undefined, name: string) =>
        new Promise<number>(resolve => {
          const socket = connect({ port: open.port, host: address ?? '127.0.0.1' });
          socket.write(request('GET /hello', `Host: ${name}`));
          socket.once('data', data => resolve(statusOf(data.toString())));
        });
      for (const name of ['127.0.0.1', 'localhost', '[::1]'])
        expect([name, await from('127.0.0.1', name), await from(external?.address, name)]).toEqual([
          name,
          200,
          403,
        ]);
      expect(await from(external?.address, 'tools.example')).toBe(200);
      expect(open.refusals[0]).toMatchObject({ reason: 'host' });
    },
  );

  it('is checked before the path, so that refused clients learn nothing about paths', async () => {
    expect(statusOf(await rawExchange(server.port, request('GET /nowhere', 'Host: evil.example')))).toBe(403);
  });

  it('rejects an invalid allowed host before binding a port', async () => {
    await expect(watchedServer({ allowedHosts: ['http://tools.example'] })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('browsers', () => {
  it.each([
    ['a simple post', 'POST /echo', 'Origin: https://evil.example'],
    ['an opaque origin', 'POST /echo', 'Origin: null'],
    ['our own origin', 'POST /echo', 'Origin: http://127.0.0.1'],
    ['a preflight', 'OPTIONS /echo', 'Origin: https://evil.example'],
    ['an image', 'GET /hello', 'Sec-Fetch-Site: cross-site'],
    ['a page opened by hand', 'GET /hello', 'Sec-Fetch-Site: none'],
    ['an unknown path', 'GET /nowhere', 'Sec-Fetch-Site: none'],
  ])('row 3: refuses a web page: %s', async (_, line, header) => {
    const answer = await rawExchange(server.port, request(line, own(), header));
    expect(statusOf(answer)).toBe(403);
    expect(answer).not.toMatch(/access-control/i);
    expect(server.refusals.map(refusal => refusal.reason)).toEqual(['browser']);
  });

  it('row 3: detects an Origin behind thousands of headers', async () => {
    const many = Array.from({ length: 2_500 }, () => 'a:').join('\r\n');
    expect(await getWith(own(), many, 'Origin: null')).toBe(403);
  });

  it('row 3: serves Node’s own fetch', async () => {
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
    const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect(await (await fetch(`${server.url}/echo`, post)).text()).toBe('2 bytes');
  });

  it('row 3: serves curl', async () => {
    const { stdout } = await run('curl', ['-sS', '--json', '{}', `${server.url}/echo`]);
    expect(stdout).toBe('2 bytes');
  });

  it('row 3: serves Python’s urllib', async () => {
    const script = 'import sys,urllib.request as u;print(u.urlopen(sys.argv[1]).read().decode())';
    const { stdout } = await run('python3', ['-c', script, `${server.url}/hello`]);
    expect(stdout).toBe('hello\n');
  });
});

describe('a page for people', () => {
  const page: Route = { ...hello, browsers: 'same-origin', serves: path => path === '/consent' };
  const visit = async (...headers: string[]) =>
    statusOf(await rawExchange(server.port, request('GET /consent', own(), ...headers)));

  beforeEach(async () => {
    await server.close();
    server = await watchedServer({ routes: [echo, page] });
  });

  it('row 3: opens by hand and from its own origin', async () => {
    expect(await visit('Sec-Fetch-Site: none')).toBe(200);
    expect(await visit('Sec-Fetch-Site: same-origin', `Origin: ${server.url}`)).toBe(200);
  });

  it('row 3: refuses other pages', async () => {
    expect(await visit('Sec-Fetch-Site: cross-site')).toBe(403);
    expect(await visit('Sec-Fetch-Site: same-site')).toBe(403);
    expect(await visit('Origin: https://evil.example')).toBe(403);
    expect(await visit('Origin: null')).toBe(403);
  });
});

describe('requests', () => {
  it('answers 404 to an unknown path, and reports it', async () => {
    expect(statusOf(await postTo('/nowhere?x=1', 'Content-Type: application/json'))).toBe(404);
    expect(server.refusals).toMatchObject([
      { status: 404, reason: 'no-route', request: { target: '/nowhere?x=1' } },
    ]);
  });

  it('answers 405 with the allowed methods', async () => {
    const answer = await rawExchange(server.port, request('DELETE /echo', own()));
    expect(statusOf(answer)).toBe(405);
    expect(answer).toMatch(/^allow: POST\r$/im);
  });

  it('accepts JSON with any parameters, and no other type', async () => {
    expect(statusOf(await postTo('/echo', 'Content-Type: Application/JSON; charset="utf-8"'))).toBe(200);
    for (const type of ['text/plain', 'application/json-seq', 'application/x-www-form-urlencoded', '']) {
      expect([type, statusOf(await postTo('/echo', `Content-Type: ${type}`))]).toEqual([type, 415]);
    }
    expect(statusOf(await postTo('/echo'))).toBe(415);
  });

  it.each([
    'Content-Encoding: gzip',
    'Content-Encoding: identity, br',
    'Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip',
  ])('row 16: refuses an encoded body: %s', async encoding => {
    expect(statusOf(await postTo('/echo', 'Content-Type: application/json', encoding))).toBe(415);
    expect(server.refusals).toMatchObject([{ reason: 'encoding' }]);
  });

  it('row 16: refuses a transfer encoding, but not `identity`', async () => {
    const head = ['Content-Type: application/json', own()];
    const gzip = request('POST /echo', ...head, 'Transfer-Encoding: gzip, chunked');
    expect(statusOf(await rawExchange(server.port, gzip, '0\r\n\r\n'))).toBe(415);
    expect(
      statusOf(await postTo('/echo', 'Content-Type: application/json', 'Content-Encoding: Identity')),
    ).toBe(200);
  });
});

describe('a route that accepts anything', () => {
  const anything: Route = { ...echo, accepts: 'anything' };

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', ''])(
    'reads a body of the type "%s"',
    async type => {
      await using open = await watchedServer({ routes: [anything] });
      const head = ['Host: 127.0.0.1', 'Content-Length: 2', ...(type ? [`Content-Type: ${type}`] : [])];
      expect(await rawExchange(open.port, request('POST /echo', ...head), '{}')).toContain('2 bytes');
    },
  );

  it('rows 15 and 16: refuses a body that is too large or encoded', async () => {
    await using open = await watchedServer({ routes: [anything] });
    const post = async (...headers: string[]) =>
      statusOf(await rawExchange(open.port, request('POST /echo', 'Host: 127.0.0.1', ...headers), '{}'));
    expect(await post('Content-Length: 1001')).toBe(413);
    expect(await post('Content-Length: 2', 'Content-Encoding: gzip')).toBe(415);
  });
});
