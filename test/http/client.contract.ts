import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/http/addresses.js';
import type { HttpClient, HttpRequest } from '../../src/http/client.js';
import { answer, pour, startPeer } from './peer.js';

const ENOUGH = { maxBytes: 1_000 };
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Tests that every client must pass, for each library. */
export function clientContract(name: string, create: (options?: ClientOptions) => HttpClient): void {
  describe(name, () => {
    let client: HttpClient;
    beforeEach(() => {
      client = create();
    });
    afterEach(() => client.close());

    const get = (url: string, options: Partial<HttpRequest> = {}) =>
      client.send({ method: 'GET', url, read: ENOUGH, ...options });
    const failing = (url: string, options: Partial<HttpRequest> = {}) =>
      get(url, options).then(
        () => 'no error',
        ({ phase, code }) => ({ phase, code }),
      );

    it('sends what it was given, and gives back what came', async () => {
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
      'TOOL-OPAQUE: asks for the target as it was written: %s',
      async target => {
        await using peer = await startPeer(answer(200, ''));
        await get(`http://127.0.0.1:${peer.port}${target}`);
        expect(peer.requests[0]?.split('\r\n')[0]).toBe(`GET ${target} HTTP/1.1`);
      },
    );

    it('sends a body in pieces where it is asked to, with its length', async () => {
      const arrived: string[] = [];
      await using peer = await startPeer(socket => {
        socket.on('data', piece => {
          arrived.push(piece.toString());
          if (arrived.join('').endsWith('f')) socket.write(answer(200, ''));
        });
      });
      const body = Buffer.from('abcdef');
      const pace = { bytes: 1, everyMs: 20 };
      expect(await client.send({ method: 'POST', url: peer.url, body, pace, read: ENOUGH })).toMatchObject({
        status: 200,
      });
      expect(peer.requests[0]).toMatch(/^content-length: 6\r$/im);
      expect(arrived.length).toBeGreaterThan(2);
    });

    it('stops sending in pieces when its time is over', async () => {
      await using peer = await startPeer(() => {});
      const body = Buffer.alloc(1_000);
      const pace = { bytes: 1, everyMs: 5 };
      expect(await failing(peer.url, { method: 'POST', body, pace, timeoutMs: 40 })).toEqual({
        phase: 'send',
        code: 'ETIMEDOUT',
      });
    });

    it('row 16: asks for the identity, whatever it was reported', async () => {
      await using peer = await startPeer(answer(200, ''));
      await get(peer.url, { headers: { 'Accept-Encoding': 'br' } });
      expect(peer.requests[0]?.match(/^accept-encoding: .*$/gim)).toEqual(['accept-encoding: identity']);
    });

    it.each([301, 302, 303, 307, 308])('row 11: a %i is an answer, and one request', async status => {
      await using peer = await startPeer(answer(status, '', 'Location: /elsewhere'));
      expect(await get(peer.url)).toMatchObject({ status, headers: { location: '/elsewhere' } });
      expect(peer.requests).toHaveLength(1);
    });

    it('a connection that changes its protocol is one without an answer', async () => {
      await using peer = await startPeer(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      );
      expect(await failing(peer.url)).toMatchObject({ code: expect.stringMatching(/^\w+$/) });
    });

    it('waits through interim answers', async () => {
      await using peer = await startPeer(
        `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${answer(200, 'ok')}`,
      );
      expect((await get(peer.url)).status).toBe(200);
    });

    describe('bodies', () => {
      it.each([
        ['with a length', answer(200, 'x'.repeat(1_001))],
        ['in chunks', `${CHUNKED}3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`],
        ['for ever', pour],
      ])('row 15: fail beyond the limit: %s', async (_, reply) => {
        await using peer = await startPeer(typeof reply === 'string' ? reply : socket => void reply(socket));
        expect(await failing(peer.url)).toEqual({ phase: 'answer', code: 'TOO_LARGE' });
      });

      it('row 15: may be exactly as long as the limit', async () => {
        await using peer = await startPeer(answer(200, 'x'.repeat(1_000)));
        expect((await get(peer.url)).body).toHaveLength(1_000);
      });

      it('row 15: are cut where a part is enough', async () => {
        await using peer = await startPeer(socket => void pour(socket));
        expect((await get(peer.url, { read: { maxBytes: 1_000, partial: true } })).body).toHaveLength(1_000);
      });

      it('are cut after a while where someone drips them', async () => {
        await using peer = await startPeer(`${CHUNKED}5\r\nmore \r\n`);
        const read = { maxBytes: 1_000, partial: true, withinMs: 50 };
        expect((await get(peer.url, { read })).body).toHaveLength(5);
      });

      it('are what came of them where someone tears them off, if their head is what counts', async () => {
        await using peer = await startPeer(socket => void socket.end(`${CHUNKED}5\r\nmore \r\n`));
        const read = { maxBytes: 1_000, partial: true, withinMs: 5_000 };
        expect(await get(peer.url, { read })).toMatchObject({ status: 200 });
        expect(await failing(peer.url)).toMatchObject({ phase: 'answer' });
      });

      it('are read as the status asks for', async () => {
        await using peer = await startPeer(answer(404, 'no such operation'));
        const read = (status: number) => (status === 200 ? 'nothing' : ENOUGH);
        expect((await get(peer.url, { read })).body).toHaveLength(17);
      });

      it.each(['gzip', 'br', 'gzip, gzip, gzip, gzip, gzip, gzip', 'unheard-of'])(
        'row 16: are not decoded: %s',
        async encoding => {
          await using peer = await startPeer(answer(200, 'x', `Content-Encoding: ${encoding}`));
          expect(await failing(peer.url)).toEqual({ phase: 'answer', code: 'ENCODED' });
        },
      );

      it('row 16: are given as they came where they are only passed on', async () => {
        await using peer = await startPeer(answer(200, 'zipped', 'Content-Encoding: gzip'));
        const { headers, body } = await get(peer.url, { read: { maxBytes: 100, opaque: true } });
        expect([headers['content-encoding'], Buffer.from(body).toString()]).toEqual(['gzip', 'zipped']);
      });

      it('row 16: are neither decoded nor waited for where nothing is to be read', async () => {
        const unfinished =
          'HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip, br, br, br\r\nContent-Length: 9\r\n\r\nx';
        await using peer = await startPeer(unfinished);
        expect(await get(peer.url, { read: 'nothing' })).toMatchObject({
          status: 200,
          body: new Uint8Array(0),
        });
      });

      it('row 15: are dropped, and the connection ended, where they go on after the acknowledgement', async () => {
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
    });

    describe('what is not strict HTTP', () => {
      it.each([
        [
          'a length and chunks',
          'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        ],
        ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx'],
        ['bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 1\n\nx'],
        ['a chunk without a size', `${CHUNKED}x\r\n`],
        ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
        ['a head beyond 16 KiB', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
      ])('row 17: fails: %s', async (_, reply) => {
        await using peer = await startPeer(reply);
        expect(await failing(peer.url)).toMatchObject({ code: 'PARSE' });
      });
    });

    describe('a connection', () => {
      it('refused is reported so', async () => {
        const { port } = await startPeer('').then(async peer => {
          await peer[Symbol.asyncDispose]();
          return peer;
        });
        expect(await failing(`http://127.0.0.1:${port}/`)).toEqual({
          phase: 'connect',
          code: 'ECONNREFUSED',
        });
        await expect(get(`http://localhost:${port}/`)).rejects.toThrow(/127\.0\.0\.1/);
      });

      it.each<[string, (socket: Socket) => void, string]>([
        ['before the answer', socket => socket.resetAndDestroy(), 'send'],
        ['politely, before the answer', socket => socket.end(), 'send'],
        [
          'in the middle of it',
          socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
          'answer',
        ],
        ['in the middle of a chunk', socket => socket.end(`${CHUNKED}9\r\nx`), 'answer'],
      ])('broken is reported so: %s', async (_, reply, phase) => {
        await using peer = await startPeer(reply);
        expect(await failing(peer.url)).toEqual({ phase, code: 'ECONNRESET' });
      });

      it('that is silent ends with the time', async () => {
        await using peer = await startPeer(() => {});
        expect(await failing(peer.url, { timeoutMs: 30 })).toEqual({ phase: 'send', code: 'ETIMEDOUT' });
      });

      it('that stalls in the body ends with the time', async () => {
        await using peer = await startPeer('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx');
        expect(await failing(peer.url, { timeoutMs: 60 })).toEqual({ phase: 'answer', code: 'ETIMEDOUT' });
      });

      it('may have all the time there is', async () => {
        await using peer = await startPeer(answer(200, ''));
        expect((await get(peer.url, { timeoutMs: 0 })).status).toBe(200);
      });

      it('is kept, and then broken, is reported so', async () => {
        let answered = 0;
        await using peer = await startPeer(socket => {
          if (answered++ === 0) socket.write(answer(200, ''));
          else socket.destroy();
        });
        expect((await get(peer.url)).status).toBe(200);
        expect(await failing(peer.url)).toEqual({ phase: 'send', code: 'ECONNRESET' });
      });

      it('ends when it is called off', async () => {
        const calledOff = new AbortController();
        await using peer = await startPeer(() => calledOff.abort());
        expect(await failing(peer.url, { signal: calledOff.signal })).toEqual({
          phase: 'send',
          code: 'ABORTED',
        });
      });

      it('is not made where it was called off before', async () => {
        await using peer = await startPeer(answer(200, ''));
        expect(await failing(peer.url, { signal: AbortSignal.abort() })).toMatchObject({ code: 'ABORTED' });
        expect(peer.requests).toEqual([]);
      });

      it('ends with the client', async () => {
        await using peer = await startPeer(() => void client.close());
        expect(await failing(peer.url)).toEqual({ phase: 'send', code: 'ABORTED' });
      });
    });

    it('refuses a header that would end the line', async () => {
      await using peer = await startPeer(answer(200, ''));
      expect(await failing(peer.url, { headers: { x: 'a\r\nb: c' } })).toMatchObject({ code: 'BAD_HEADER' });
      expect(peer.requests).toEqual([]);
    });

    describe('names', () => {
      const loopback = { address: '127.0.0.1', family: 4 };
      const metadata = { address: '169.254.169.254', family: 4 };

      it.each(['127.0.0.1', '::1'])(
        'with several addresses are found on the one that listens: %s',
        async host => {
          client = create({ resolve: async () => [{ address: '::1', family: 6 }, loopback] });
          await using peer = await startPeer(answer(200, ''), host);
          expect((await get(`http://localhost:${peer.port}/`)).status).toBe(200);
        },
      );

      it('are asked of the system', async () => {
        await using peer = await startPeer(answer(200, ''));
        expect((await get(`http://localhost:${peer.port}/`)).status).toBe(200);
      });

      it('that are unknown are reported so', async () => {
        client = create({
          resolve: async () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })),
        });
        expect(await failing('http://tools.example/')).toEqual({ phase: 'address', code: 'ENOTFOUND' });
      });

      it('without an address are reported so', async () => {
        client = create({ resolve: async () => [] });
        expect(await failing('http://tools.example/')).toEqual({ phase: 'address', code: 'ENOTFOUND' });
      });

      it.each(['http://169.254.169.254/', 'http://[::ffff:a9fe:a9fe]/', 'http://0xa9fea9fe/'])(
        'row 9: an address that is always refused is not connected to: %s',
        async url => expect(await failing(url)).toEqual({ phase: 'address', code: 'REFUSED_ADDRESS' }),
      );

      it('row 9: one refused address among others is enough', async () => {
        client = create({ resolve: async () => [loopback, metadata] });
        await using peer = await startPeer(answer(200, ''));
        expect(await failing(`http://tools.example:${peer.port}/`)).toEqual({
          phase: 'address',
          code: 'REFUSED_ADDRESS',
        });
      });

      it('row 10: localhost that is another machine is caught', async () => {
        client = create({ resolve: async () => [loopback, { address: '10.0.0.1', family: 4 }] });
        await using peer = await startPeer(answer(200, ''));
        expect(await failing(`http://localhost:${peer.port}/`)).toEqual({
          phase: 'address',
          code: 'REFUSED_ADDRESS',
        });
        expect(peer.requests).toEqual([]);
      });

      it('row 10: a name that resolves differently the second time is caught', async () => {
        const addresses = [loopback, metadata];
        client = create({ resolve: async () => addresses.splice(0, 1) });
        await using peer = await startPeer(answer(200, '', 'Connection: close'));
        const url = `http://tools.example:${peer.port}/`;
        expect((await get(url)).status).toBe(200);
        expect(await failing(url)).toEqual({ phase: 'address', code: 'REFUSED_ADDRESS' });
      });
    });
  });
}
