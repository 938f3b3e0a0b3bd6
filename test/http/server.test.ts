import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { isWildcard } from '../../src/http/guard.js';
import type { Route } from '../../src/http/route.js';
import { startServer } from '../../src/http/server.js';
import { echo, hello, rawExchange, request, statusOf, type Watched, watchedServer } from './raw.js';

const HOST = 'Host: 127.0.0.1';

let server: Watched;

afterEach(() => server?.close());

const serving = async (handle: Route['handle']) => {
  server = await watchedServer({ routes: [{ ...hello, handle }] });
  return rawExchange(server.port, request('GET /hello?who=%3Cme%3E', HOST));
};

const headOf = (answer: string) => answer.split('\r\n\r\n', 1)[0] ?? '';

it('serves its routes below a base path only', async () => {
  server = await watchedServer({
    basePath: '/base',
    routes: [{ ...hello, handle: ({ base, target }) => ({ status: 200, body: base + target }) }],
  });
  const ask = (path: string) => rawExchange(server.port, request(`GET ${path}`, HOST));
  expect(await ask('/base/hello?a')).toMatch(/^HTTP\/1.1 200 [\s\S]*http:\/\/127\.0\.0\.1\/base\/hello\?a$/);
  for (const path of ['/hello', '/basement/hello', '/base', '//base/hello', '/Base/hello'])
    expect(statusOf(await ask(path))).toBe(404);
});

describe('an answer', () => {
  it('row 28: is plain text with nosniff and a length', async () => {
    const head = headOf(await serving(() => ({ status: 200, body: 'né' })));
    expect(head).toMatch(/^content-type: text\/plain; charset=utf-8$/im);
    expect(head).toMatch(/^x-content-type-options: nosniff$/im);
    expect(head).toMatch(/^content-length: 3$/im);
  });

  it('row 28: repeats nothing of a refused request', async () => {
    server = await watchedServer();
    const answer = await rawExchange(server.port, request('GET /canary-1', HOST, 'X-Canary: canary-2'));
    expect(statusOf(answer)).toBe(404);
    expect(answer).not.toContain('canary');
    expect(headOf(answer)).toMatch(/^x-content-type-options: nosniff$/im);
  });

  it('uses the handler’s own headers instead of the defaults, once', async () => {
    const head = headOf(
      await serving(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' })),
    );
    expect(head.match(/content-type/gi)).toHaveLength(2); // with X-Content-Type-Options
    expect(head).toMatch(/^content-type: application\/json$/im);
  });

  it('has no length without a body', async () => {
    expect(headOf(await serving(() => ({ status: 204 })))).not.toMatch(/^content-length/im);
  });

  it('the handler receives the request as sent', async () => {
    const seen = await serving(({ method, target, path, base }, body) => ({
      status: 200,
      body: JSON.stringify([method, target, path, base, body.length]),
    }));
    expect(seen).toContain('["GET","/hello?who=%3Cme%3E","/hello","http://127.0.0.1",0]');
  });

  it('in pieces: each is produced only after the previous ones were read', async () => {
    let made = 0;
    const pieces = function* () {
      for (; made < 1_000; made++) yield Buffer.from(`${made}`.padEnd(64 * 1024));
    };
    server = await watchedServer({
      routes: [{ ...hello, handle: () => ({ status: 200, pieces: pieces() }) }],
    });
    const { body } = await fetch(`${server.url}/hello`);
    const reader = body?.getReader();
    await reader?.read();
    await (await fetch(`${server.url}/nowhere`)).text();
    expect(made).toBeLessThan(500);
    await reader?.cancel();
    const whole = await rawExchange(server.port, request('GET /hello', HOST));
    expect(whole).toContain('999 ');
  });

  it('is aborted if producing its pieces fails', async () => {
    const pieces = function* () {
      yield Buffer.alloc(100_000, 'x');
      throw new Error('no more');
    };
    const answer = await serving(() => ({ status: 200, pieces: pieces() }));
    expect([statusOf(answer), answer.endsWith('0\r\n\r\n')]).toEqual([200, false]);
    expect(server.refusals).toMatchObject([{ status: 500, reason: 'failed' }]);
  });

  it('can be a reset connection', async () => {
    expect(await serving(() => 'reset')).toBe('');
    expect(server.refusals).toEqual([]);
  });

  it('is preceded by a 100 only if the body is wanted', async () => {
    server = await watchedServer();
    const head = [HOST, 'Content-Type: application/json', 'Expect: 100-continue'];
    const wanted = await rawExchange(server.port, request('POST /echo', ...head, 'Content-Length: 2'), '{}');
    expect(wanted).toMatch(/^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 200 /);
    const tooLarge = await rawExchange(server.port, request('POST /echo', ...head, 'Content-Length: 2000'));
    expect(statusOf(tooLarge)).toBe(413);
  });
});

describe('a handler that fails', () => {
  it.each<[string, Route['handle']]>([
    [
      'throws',
      () => {
        throw new Error('a secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a secret'))],
    [
      'answers with an invalid header',
      () => ({ status: 200, headers: { 'X-Y': 'a secret\r\nSet-Cookie: x' } }),
    ],
    ['answers with an invalid status', () => ({ status: 99, body: 'a secret' })],
  ])('is answered with a bare 500, and reported: %s', async (_, handle) => {
    const answer = await serving(handle);
    expect(statusOf(answer)).toBe(500);
    expect(answer).not.toContain('secret');
    expect(server.refusals).toMatchObject([
      { status: 500, reason: 'failed', request: { target: '/hello?who=%3Cme%3E' } },
    ]);
    expect(statusOf(await rawExchange(server.port, request('GET /hello', HOST)))).toBe(500);
  });
});

describe('the listening address', () => {
  it.each([
    '0.0.0.0',
    '0',
    '::',
    '[::]',
    '::0',
    '0:0:0:0:0:0:0:0',
    '::ffff:0.0.0.0',
    '*',
    '',
    '0x0',
    '00.0',
    '0000::',
  ])('row 5: detects a wildcard: "%s"', host => expect(isWildcard(host)).toBe(true));

  it.each([
    '127.0.0.1',
    '::1',
    '[::1]',
    'localhost',
    '10.0.0.0',
    'a.example',
    '::ffff:127.0.0.1',
    'not a host',
  ])('row 5: is not a wildcard: "%s"', host => expect(isWildcard(host)).toBe(false));

  it('row 5: a wildcard is bound on request, and advertised as 127.0.0.1', async () => {
    server = await watchedServer({ host: '*' });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
  });

  it('row 6: localhost is 127.0.0.1, even if another process has ::1 on the same port', async () => {
    const { port } = await watchedServer().then(async first => {
      await first.close();
      return first;
    });
    const squatter = createServer(socket => socket.destroy());
    await new Promise<void>(resolve =>
      squatter.listen({ port, host: '::1' }, resolve).once('error', () => resolve()),
    );
    server = await watchedServer({ host: 'localhost', port });
    expect(server.url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
    squatter.close();
  });

  it('a given address is its own name', async () => {
    server = await watchedServer({ host: '127.0.0.2' });
    expect(server.url).toBe(`http://127.0.0.2:${server.port}`);
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
  });

  it('reports a port that is in use', async () => {
    server = await watchedServer();
    await expect(startServer({ port: server.port, routes: [], maxBody: 0 })).rejects.toMatchObject({
      code: 'port-in-use',
      message: `port ${server.port} on 127.0.0.1 is already in use`,
      hint: expect.any(String),
    });
  });

  it('reports an address that is not on this machine', async () => {
    const elsewhere = startServer({ host: '192.0.2.1', routes: [], maxBody: 0 });
    await expect(elsewhere).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('192.0.2.1:0'),
    });
  });
});

describe('closing', () => {
  it('ends idle connections and closes the others', async () => {
    server = await watchedServer({ routes: [{ ...hello, handle: () => new Promise(() => {}) }, echo] });
    const hanging = rawExchange(server.port, request('GET /hello', HOST));
    const silent = rawExchange(server.port);
    await Promise.all([server.close(), server.close()]);
    expect(await Promise.all([hanging, silent])).toEqual(['', '']);
  });

  it('lets a request in progress finish, up to a limit', async () => {
    const finishing: Route['handle'] = () => {
      closed = server.close();
      return new Promise(resolve => setImmediate(resolve, { status: 200, body: 'done' }));
    };
    let closed = Promise.resolve();
    server = await watchedServer({ routes: [{ ...hello, handle: finishing }], limits: { closeMs: 60_000 } });
    expect(await rawExchange(server.port, `GET /hello HTTP/1.1\r\n${HOST}\r\n\r\n`)).toContain('done');
    await closed;
  });
});

const STARTED = 'http.server.request.start';

it.each<[string, string, readonly string[], string]>([
  ['with a body', 'x'.repeat(100_000), [], ''],
  ['without a body', '', [], ''],
  ['to a request that was not read', 'x', ['Content-Length: 4'], 'body'],
])('sent() is called once, after the whole answer was written: %s', async (_, body, headers, payload) => {
  const seen: object[] = [];
  let response: ServerResponse | undefined;
  const started = (message: unknown) => {
    response = (message as { readonly response: ServerResponse }).response;
  };
  subscribe(STARTED, started);
  onTestFinished(() => void unsubscribe(STARTED, started));
  const look = () => {
    const { writableEnded, headersSent, socket = null } = response ?? {};
    seen.push({ writableEnded, headersSent, isConnected: socket !== null });
  };
  const handle = () => {
    expect(response?.writableEnded).toBe(false);
    return { status: 200, body, sent: look };
  };
  server = await watchedServer({ routes: [{ ...hello, handle }] });
  const answer = await rawExchange(
    server.port,
    request('GET /hello', 'Host: 127.0.0.1', ...headers),
    payload,
  );
  expect(statusOf(answer)).toBe(200);
  expect(answer.endsWith(`\r\n\r\n${body}`)).toBe(true);
  expect(seen).toEqual([{ writableEnded: true, headersSent: true, isConnected: true }]);
});
