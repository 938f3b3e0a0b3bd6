import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/http/addresses.js';
import type { HttpClient, HttpRequest } from '../../src/http/client.js';
import { createRunnableClock } from '../../src/system/clock.js';
import { fakeClock } from '../support/fake-clock.js';
import { answer, pour, startPeer } from './peer.js';

const ENOUGH = { maxBytes: 1_000 };
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Answers in time, and then blocks the event loop beyond the time limit. */
function answersAndBlocks(socket: Socket): void {
  socket.write(answer(200, 'ok'));
  for (const end = performance.now() + 300; performance.now() < end; );
}

/** Tests that every client must pass, for each library. */
export function clientContract(name: string, create: (options?: ClientOptions) => HttpClient): void {
  describe(name, () => {
    let client: HttpClient;
    beforeEach(() => {
      client = create({ clock: createRunnableClock() });
    });
    afterEach(() => client.close());

    const get = (url: string, options: Partial<HttpRequest> = {}) =>
      client.send({ method: 'GET', url, read: ENOUGH, ...options });
    const failing = (url: string, options: Partial<HttpRequest> = {}) =>
      get(url, options).then(
        () => 'no error',
        ({ phase, code }) => ({ phase, code }),
      );

    it('sends what it was given, and returns what arrived', async () => {
      await using peer = await startPeer(answer(202, '{"a":"é"}', 'X-One: 1', 'x-two: a', 'X-Two: b'));
      const body = Buffer.from('{}');
      const sent = await client.send({
        method: 'POST',
        url: peer.url,
        headers: { 'X-Own': 'yes' },
        body,
        read: ENOUGH,
      });
      expect(sent.status).toBe(202);
      expect(sent.headers).toMatchObject({ 'x-one': '1' });
      expect(Buffer.from(sent.body).toString()).toBe('{"a":"é"}');
      expect(peer.requests[0]).toMatch(/^POST \/tool\?x=1 HTTP\/1.1\r\n/);
      expect(peer.requests[0]).toMatch(/^x-own: yes\r$/im);
      expect(peer.requests[0]).toMatch(/^content-length: 2\r$/im);
    });

    it.each(['/a/../b', '//x', '/?', '/%2e%2E/%c3%A9', '/x/', '/a|b"{}'])(
      'TOOL-OPAQUE: requests the target as it was written: %s',
      async target => {
        await using peer = await startPeer(answer(200, ''));
        await get(`http://127.0.0.1:${peer.port}${target}`);
        expect(peer.requests[0]?.split('\r\n')[0]).toBe(`GET ${target} HTTP/1.1`);
      },
    );

    it('sends a body in pieces if asked to, with its length', async () => {
      const arrived: string[] = [];
      await using peer = await startPeer(socket => {
        socket.on('data', piece => {
          arrived.push(piece.toString());
          if (arrived.join('').endsWith('f')) socket.write(answer(200, ''));
        });
      });
      const sending = {
        method: 'POST',
        body: Buffer.from('abcdef'),
        pace: { bytes: 1, everyMs: 20 },
      } as const;
      expect((await get(peer.url, sending)).status).toBe(200);
      expect(peer.requests[0]).toMatch(/^content-length: 6\r$/im);
      expect(arrived.length).toBeGreaterThan(2);
    });

    it('row 16: asks for the identity, whatever the header says', async () => {
      await using peer = await startPeer(answer(200, ''));
      await get(peer.url, { headers: { 'Accept-Encoding': 'br' } });
      expect(peer.requests[0]?.match(/^accept-encoding: .*$/gim)).toEqual(['accept-encoding: identity']);
    });

    it.each([301, 302, 303, 307, 308])('row 11: a %i is an answer, and one request', async status => {
      await using peer = await startPeer(answer(status, '', 'Location: /elsewhere'));
      expect(await get(peer.url)).toMatchObject({ status, headers: { location: '/elsewhere' } });
      expect(peer.requests).toHaveLength(1);
    });

    const PARTIAL = { maxBytes: 1_000, partial: true };
    const UNFINISHED = `${CHUNKED}5\r\nmore \r\n`;

    it.each<[string, string | ((socket: Socket) => void), Partial<HttpRequest>, string | number]>([
      ['after interim answers', `HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n${answer(200, 'ok')}`, {}, 'ok'],
      ['without a time limit', answer(200, 'ok'), { timeoutMs: 0 }, 'ok'],
      ['arrived before the time limit, read after it', answersAndBlocks, { timeoutMs: 200 }, 'ok'],
      ['row 15: exactly as long as the limit', answer(200, 'x'.repeat(1_000)), {}, 1_000],
      ['row 15: cut if a part is enough', socket => void pour(socket), { read: PARTIAL }, 1_000],
      ['cut after a while if it is slow', UNFINISHED, { read: { ...PARTIAL, withinMs: 50 } }, 'more '],
      [
        'cut off if the head is what counts',
        socket => void socket.end(UNFINISHED),
        { read: { ...PARTIAL, withinMs: 5_000 } },
        'more ',
      ],
      [
        'with the limit for its status',
        answer(404, 'none'),
        { read: status => (status === 200 ? 'nothing' : ENOUGH) },
        4,
      ],
      [
        'row 16: unchanged if it is only passed on',
        answer(200, 'zipped', 'Content-Encoding: gzip'),
        { read: { maxBytes: 100, opaque: true } },
        'zipped',
      ],
      [
        'row 16: neither decoded nor waited for if nothing is read',
        'HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip, br\r\nContent-Length: 9\r\n\r\nx',
        { read: 'nothing' },
        '',
      ],
    ])('reads a body %s', async (_, reply, options, expected) => {
      await using peer = await startPeer(reply);
      const body = Buffer.from((await get(peer.url, options)).body);
      expect(typeof expected === 'number' ? body.length : body.toString()).toBe(expected);
    });

    it('row 15: drops an endless body after the acknowledgement, and ends the connection', async () => {
      const poured: { taken(): number }[] = [];
      const ended: Promise<unknown>[] = [];
      await using peer = await startPeer(socket => {
        ended.push(new Promise(resolve => socket.once('close', resolve)));
        poured.push(pour(socket));
      });
      const before = process.memoryUsage().arrayBuffers;
      expect((await get(peer.url, { read: 'nothing' })).status).toBe(200);
      await ended[0];
      expect(poured[0]?.taken()).toBeLessThan(16 * 1024 * 1024); // the size of the kernel's buffers
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    });

    const LARGE = { phase: 'answer', code: 'TOO_LARGE' };
    const ENCODED = { phase: 'answer', code: 'ENCODED' };
    const PARSE = { code: 'PARSE' };
    const reset = (phase: string) => ({ phase, code: 'ECONNRESET' });
    const late = (phase: string) => ({ phase, code: 'ETIMEDOUT' });
    const encoded = (encoding: string) => answer(200, 'x', `Content-Encoding: ${encoding}`);
    const SHORT = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx';
    const DRIP = { method: 'POST', body: Buffer.alloc(1_000), pace: { bytes: 1, everyMs: 5 } } as const;

    it.each<[string, string | ((socket: Socket) => void), object, Partial<HttpRequest>?]>([
      ['row 15: a body over the limit', answer(200, 'x'.repeat(1_001)), LARGE],
      ['row 15: chunks over the limit', `${CHUNKED}3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`, LARGE],
      ['row 15: an endless body', socket => void pour(socket), LARGE],
      ['row 16: gzip', encoded('gzip'), ENCODED],
      ['row 16: gzip repeatedly', encoded('gzip, gzip, gzip, gzip, gzip, gzip'), ENCODED],
      ['row 16: an unknown encoding', encoded('unheard-of'), ENCODED],
      [
        'row 17: a length and chunks',
        'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        PARSE,
      ],
      ['row 17: two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx', PARSE],
      ['row 17: bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 1\n\nx', PARSE],
      ['row 17: a chunk without a size', `${CHUNKED}x\r\n`, PARSE],
      ['row 17: another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', PARSE],
      ['row 17: a head over 16 KiB', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, PARSE],
      ['a reset before the answer', socket => socket.resetAndDestroy(), reset('send')],
      ['an end before the answer', socket => socket.end(), reset('send')],
      ['an end within the body', socket => socket.end(SHORT), reset('answer')],
      ['an end within a chunk', socket => socket.end(`${CHUNKED}9\r\nx`), reset('answer')],
      ['silence', () => {}, late('send'), { timeoutMs: 30 }],
      ['a stalled body', SHORT, late('answer'), { timeoutMs: 60 }],
      ['a slow request', () => {}, late('send'), { ...DRIP, timeoutMs: 40 }],
      [
        'another protocol after an upgrade',
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
        { code: expect.stringMatching(/^\w+$/) },
      ],
    ])('fails for %s', async (_, reply, expected, options) => {
      await using peer = await startPeer(reply);
      expect(await failing(peer.url, options)).toMatchObject(expected);
    });

    it('measures the time limit with the given clock', async () => {
      await using peer = await startPeer(() => {});
      const clock = fakeClock();
      const timed = create({ clock });
      const sent = timed.send({ method: 'GET', url: peer.url, read: ENOUGH, timeoutMs: 60_000 });
      const failure = sent.then(
        () => 'no error',
        ({ code }) => code,
      );
      await expect.poll(() => peer.requests.length).toBe(1);
      clock.advance(60_000);
      expect(await failure).toBe('ETIMEDOUT');
      await timed.close();
    });

    it('reports a refused connection', async () => {
      const { port } = await startPeer('').then(async peer => {
        await peer[Symbol.asyncDispose]();
        return peer;
      });
      expect(await failing(`http://127.0.0.1:${port}/`)).toEqual({ phase: 'connect', code: 'ECONNREFUSED' });
      await expect(get(`http://localhost:${port}/`)).rejects.toThrow(/127\.0\.0\.1/);
    });

    it('reports a connection that breaks after its first request', async () => {
      let answered = 0;
      await using peer = await startPeer(socket => {
        if (answered++ === 0) socket.write(answer(200, ''));
        else socket.destroy();
      });
      expect((await get(peer.url)).status).toBe(200);
      expect(await failing(peer.url)).toEqual(reset('send'));
    });

    it('ends with its signal, and with the client', async () => {
      const canceled = new AbortController();
      await using peer = await startPeer(() => canceled.abort());
      const aborted = { phase: 'send', code: 'ABORTED' };
      expect(await failing(peer.url, { signal: canceled.signal })).toEqual(aborted);
      expect(await failing(peer.url, { signal: AbortSignal.abort() })).toMatchObject({ code: 'ABORTED' });
      expect(peer.requests).toHaveLength(1);
      await using other = await startPeer(() => void client.close());
      expect(await failing(other.url)).toEqual(aborted);
    });

    it('refuses a header that would end the line', async () => {
      await using peer = await startPeer(answer(200, ''));
      expect(await failing(peer.url, { headers: { x: 'a\r\nb: c' } })).toMatchObject({ code: 'BAD_HEADER' });
      expect(peer.requests).toEqual([]);
    });

    describe('names', () => {
      const loopback = { address: '127.0.0.1', family: 4 };
      const metadata = { address: '169.254.169.254', family: 4 };
      const refused = { phase: 'address', code: 'REFUSED_ADDRESS' };

      it.each(['127.0.0.1', '::1'])(
        'with several addresses are called on the one that listens: %s',
        async host => {
          client = create({ resolve: async () => [{ address: '::1', family: 6 }, loopback] });
          await using peer = await startPeer(answer(200, ''), host);
          expect((await get(`http://localhost:${peer.port}/`)).status).toBe(200);
        },
      );

      it('of two addresses the first is not given up because this process was blocked', async () => {
        await using peer = await startPeer(answer(200, 'ok'));
        const resolve = async () => {
          setImmediate(() => {
            for (const end = performance.now() + 600; performance.now() < end; );
          });
          return [loopback, { address: '::1', family: 6 }];
        };
        client = create({ resolve });
        expect((await get(`http://a.test:${peer.port}/`)).status).toBe(200);
      });

      it('are resolved by the system by default', async () => {
        await using peer = await startPeer(answer(200, ''));
        expect((await get(`http://localhost:${peer.port}/`)).status).toBe(200);
      });

      it.each<[string, ClientOptions['resolve']]>([
        ['unknown', async () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))],
        ['without an address', async () => []],
      ])('are reported if they are %s', async (_, resolve) => {
        client = create(resolve ? { resolve } : {});
        expect(await failing('http://tools.example/')).toEqual({ phase: 'address', code: 'ENOTFOUND' });
      });

      it.each(['http://169.254.169.254/', 'http://[::ffff:a9fe:a9fe]/', 'http://0xa9fea9fe/'])(
        'row 9: an address that is always refused is not connected to: %s',
        async url => expect(await failing(url)).toEqual(refused),
      );

      it.each([
        ['row 9: one refused address among others is enough', 'tools.example', metadata],
        ['row 10: localhost that is another machine', 'localhost', { address: '10.0.0.1', family: 4 }],
      ])('%s', async (_, name, other) => {
        client = create({ resolve: async () => [loopback, other] });
        await using peer = await startPeer(answer(200, ''));
        expect(await failing(`http://${name}:${peer.port}/`)).toEqual(refused);
        expect(peer.requests).toEqual([]);
      });

      it('row 10: a name that resolves differently the second time is caught', async () => {
        const addresses = [loopback, metadata];
        client = create({ resolve: async () => addresses.splice(0, 1) });
        await using peer = await startPeer(answer(200, '', 'Connection: close'));
        const url = `http://tools.example:${peer.port}/`;
        expect((await get(url)).status).toBe(200);
        expect(await failing(url)).toEqual(refused);
      });
    });
  });
}
