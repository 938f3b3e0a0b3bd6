import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Route } from '../../src/http/route.js';
import { isWildcard, startServer } from '../../src/http/server.js';
import { echo, hello, rawExchange, request, statusOf, type Watched, watchedServer } from './raw.js';

const HOST = 'Host: 127.0.0.1';

let server: Watched;

afterEach(() => server?.close());

const serving = async (handle: Route['handle']) => {
  server = await watchedServer({ routes: [{ ...hello, handle }] });
  return rawExchange(server.port, request('GET /hello?who=%3Cme%3E', HOST));
};

const headOf = (answer: string) => answer.split('\r\n\r\n', 1)[0] ?? '';

describe('an answer', () => {
  it('row 28: is plain text that is not sniffed, and has a length', async () => {
    const head = headOf(await serving(() => ({ status: 200, body: 'né' })));
    expect(head).toMatch(/^content-type: text\/plain; charset=utf-8$/im);
    expect(head).toMatch(/^x-content-type-options: nosniff$/im);
    expect(head).toMatch(/^content-length: 3$/im);
  });

  it('row 28: says nothing of the request where it was refused', async () => {
    server = await watchedServer();
    const answer = await rawExchange(server.port, request('GET /canary-1', HOST, 'X-Canary: canary-2'));
    expect(statusOf(answer)).toBe(404);
    expect(answer).not.toContain('canary');
    expect(headOf(answer)).toMatch(/^x-content-type-options: nosniff$/im);
  });

  it('has the handler’s own headers instead of ours, once', async () => {
    const head = headOf(
      await serving(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' })),
    );
    expect(head.match(/content-type/gi)).toHaveLength(2); // with X-Content-Type-Options
    expect(head).toMatch(/^content-type: application\/json$/im);
  });

  it('has no length without a body', async () => {
    expect(headOf(await serving(() => ({ status: 204 })))).not.toMatch(/^content-length/im);
  });

  it('gets the request as it was sent', async () => {
    const seen = await serving(({ method, target, headers, body, remote }) => ({
      status: 200,
      body: JSON.stringify([method, target, headers.host, body.length, remote]),
    }));
    expect(seen).toContain('["GET","/hello?who=%3Cme%3E","127.0.0.1",0,"127.0.0.1"]');
  });

  it('in pieces, of which none is made before those before it were taken', async () => {
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

  it('whose pieces fail is broken off', async () => {
    const pieces = function* () {
      yield Buffer.alloc(100_000, 'x');
      throw new Error('no more');
    };
    const answer = await serving(() => ({ status: 200, pieces: pieces() }));
    expect([statusOf(answer), answer.endsWith('0\r\n\r\n')]).toEqual([200, false]);
    expect(server.refusals).toMatchObject([{ status: 500, reason: 'failed' }]);
  });

  it('is followed by what its handler wants to begin then', async () => {
    const order: string[] = [];
    const answer = await serving(() => {
      order.push('handled');
      return { status: 200, body: 'x', sent: () => order.push('sent') };
    });
    expect(statusOf(answer)).toBe(200);
    expect(order).toEqual(['handled', 'sent']);
  });

  it('can be a broken connection', async () => {
    expect(await serving(() => 'reset')).toBe('');
    expect(server.refusals).toEqual([]);
  });

  it('comes after a 100 only where the body is wanted', async () => {
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
      'answers with a header that is invalid',
      () => ({ status: 200, headers: { 'X-Y': 'a secret\r\nSet-Cookie: x' } }),
    ],
    ['answers with a status that is invalid', () => ({ status: 99, body: 'a secret' })],
  ])('is a bare 500, and told: %s', async (_, handle) => {
    const answer = await serving(handle);
    expect(statusOf(answer)).toBe(500);
    expect(answer).not.toContain('secret');
    expect(server.refusals).toMatchObject([{ status: 500, reason: 'failed', target: '/hello?who=%3Cme%3E' }]);
    expect(statusOf(await rawExchange(server.port, request('GET /hello', HOST)))).toBe(500);
  });
});

describe('where it listens', () => {
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
  ])('row 5: knows a wildcard: "%s"', host => expect(isWildcard(host)).toBe(true));

  it.each([
    '127.0.0.1',
    '::1',
    '[::1]',
    'localhost',
    '10.0.0.0',
    'a.example',
    '::ffff:127.0.0.1',
    'not a host',
  ])('row 5: knows what is not one: "%s"', host => expect(isWildcard(host)).toBe(false));

  it('row 5: a wildcard is bound where asked for, and advertised as 127.0.0.1', async () => {
    server = await watchedServer({ host: '*' });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
  });

  it('row 6: localhost is 127.0.0.1, anyone who has ::1 on the same port', async () => {
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

  it('an address it was reported is its own name', async () => {
    server = await watchedServer({ host: '127.0.0.2' });
    expect(server.url).toBe(`http://127.0.0.2:${server.port}`);
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
  });

  it('says which port is taken', async () => {
    server = await watchedServer();
    await expect(startServer({ port: server.port, routes: [], maxBody: 0 })).rejects.toMatchObject({
      code: 'port-in-use',
      message: `port ${server.port} on 127.0.0.1 is already in use`,
      hint: expect.any(String),
    });
  });

  it('says which address is not ours', async () => {
    const elsewhere = startServer({ host: '192.0.2.1', routes: [], maxBody: 0 });
    await expect(elsewhere).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('192.0.2.1:0'),
    });
  });
});

describe('closing', () => {
  it('ends idle connections and cuts off the rest', async () => {
    server = await watchedServer({ routes: [{ ...hello, handle: () => new Promise(() => {}) }, echo] });
    const hanging = rawExchange(server.port, request('GET /hello', HOST));
    const silent = rawExchange(server.port);
    await Promise.all([server.close(), server.close()]);
    expect(await Promise.all([hanging, silent])).toEqual(['', '']);
  });

  it('lets a request in progress finish, and waits no longer than that', async () => {
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
