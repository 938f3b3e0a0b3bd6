import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echo, hello, rawExchange, request, statusOf, type Watched, watchedServer } from './raw.js';

const HOST = 'Host: 127.0.0.1';

const JSON_POST = ['POST /echo HTTP/1.1', HOST, 'Content-Type: application/json'];

const post = (...headers: string[]) => [...JSON_POST, ...headers, '\r\n'].join('\r\n');

const isServed = async ({ port }: Watched) =>
  statusOf(await rawExchange(port, request('GET /hello', HOST))) === 200;

const reasons = ({ refusals }: Watched) => refusals.map(refusal => refusal.reason);

describe('request smuggling', () => {
  let server: Watched;
  beforeEach(async () => {
    server = await watchedServer();
  });
  afterEach(() => server.close());

  it.each([
    ['a length and chunks', post('Content-Length: 5', 'Transfer-Encoding: chunked'), '0\r\n\r\n'],
    ['chunks and a length', post('Transfer-Encoding: chunked', 'Content-Length: 5'), '0\r\n\r\n'],
    ['two lengths', post('Content-Length: 2', 'Content-Length: 2'), '{}'],
    ['a list of lengths', post('Content-Length: 2, 2'), '{}'],
    ['a signed length', post('Content-Length: +2'), '{}'],
    ['chunks twice', post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), '0\r\n\r\n'],
    ['an unknown transfer', post('Transfer-Encoding: xchunked'), '0\r\n\r\n'],
    ['bare line feeds', `GET /hello HTTP/1.1\n${HOST}\n\n`, ''],
    ['one bare line feed', `GET /hello HTTP/1.1\r\n${HOST}\nX: y\r\n\r\n`, ''],
    ['a bare line feed in the chunks', post('Transfer-Encoding: chunked'), '2\n{}\r\n0\r\n\r\n'],
    ['a folded header', `GET /hello HTTP/1.1\r\n${HOST}\r\nX: y\r\n z\r\n\r\n`, ''],
    ['a blank before the colon', 'GET /hello HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n', ''],
    ['not HTTP', '\x16\x03\x01\x02\x00\x01\r\n\r\n', ''],
  ])('row 17: answers 400, reports it once, and serves the next request: %s', async (_, head, body) => {
    expect(statusOf(await rawExchange(server.port, head, body))).toBe(400);
    expect(reasons(server)).toEqual(['malformed']);
    expect(await isServed(server)).toBe(true);
  });

  it('answers 431 to a head over the limit', async () => {
    expect(statusOf(await rawExchange(server.port, post(`X: ${'y'.repeat(20_000)}`)))).toBe(431);
    expect(server.refusals).toMatchObject([{ status: 431, reason: 'too-large' }]);
  });
});

describe('slow clients', () => {
  let server: Watched;
  beforeEach(async () => {
    server = await watchedServer({ limits: { headersMs: 60, requestMs: 120, checkEveryMs: 10 } });
  });
  afterEach(() => server.close());

  it('row 14: closes a silent connection', async () => {
    expect(statusOf(await rawExchange(server.port))).toBe(408);
    expect(server.refusals).toMatchObject([{ status: 408, reason: 'slow' }]);
  });

  it('row 14: closes a connection whose head never ends', async () => {
    expect(statusOf(await rawExchange(server.port, 'GET /hello HTTP/1.1\r\nX: '))).toBe(408);
    expect(reasons(server)).toEqual(['slow']);
  });

  it('row 14: closes a connection with a slow body, and reports it once', async () => {
    const dripping = await drip(server.port, post('Content-Length: 900'));
    expect(statusOf(dripping)).toBe(408);
    expect(reasons(server)).toEqual(['slow']);
    expect(await isServed(server)).toBe(true);
  });

  it('row 14: refuses another connection while all are being answered', async () => {
    let answer = () => {};
    const handle = () =>
      new Promise<{ status: number }>(resolve => (answer = () => resolve({ status: 200 })));
    let begin = () => {};
    const begun = new Promise<void>(resolve => (begin = resolve));
    const busy = { ...hello, serves: leaving(() => begin()), handle };
    await using crowded = await watchedServer({ routes: [busy], limits: { connections: 1 } });
    const first = rawExchange(crowded.port, request('GET /hello', HOST));
    await begun;
    expect(await rawExchange(crowded.port, request('GET /hello', HOST))).toBe('');
    answer();
    expect(statusOf(await first)).toBe(200);
  });
});

/** Longer than a test: a client that is blocked would not be served in time. */
const PATIENT = { headersMs: 600_000, requestMs: 600_000 };

describe('more slow connections than the limit', () => {
  it.each<[string, string]>([
    ['silent', ''],
    ['in the middle of a head', 'GET /hello HTTP/1.1\r\nX: '],
    ['in the middle of a body', `${post('Content-Length: 900')}{`],
  ])('row 14: 500 that are %s do not block another client', async (_, sent) => {
    await using server = await watchedServer({ limits: PATIENT });
    await using _crowd = await openMany(server.port, 500, sent);
    expect(await isServed(server)).toBe(true);
  });

  it('row 14: clients that do not read do not block others', async () => {
    const body = Buffer.alloc(6 * 1024 * 1024, 32);
    const large = {
      ...hello,
      serves: (path: string) => path === '/large',
      handle: () => ({ status: 200, body }),
    };
    await using server = await watchedServer({ routes: [hello, large], limits: PATIENT });
    await using _crowd = await openMany(server.port, 300, `GET /large HTTP/1.1\r\n${HOST}\r\n\r\n`);
    expect(await isServed(server)).toBe(true);
    const whole = await fetch(`${server.url}/large`);
    expect((await whole.arrayBuffer()).byteLength).toBe(body.length);
  });

  it('row 14: disconnects a client that stops reading its answer', async () => {
    const body = Buffer.alloc(16 * 1024 * 1024, 32);
    let handled = 0;
    const handle = () => {
      handled++;
      return { status: 200, body };
    };
    const limits = { requestMs: 60, headersMs: 60, checkEveryMs: 10 };
    await using server = await watchedServer({ routes: [{ ...hello, handle }], limits });
    const open = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length;
    const before = open();
    await using crowd = await openMany(server.port, 3, `GET /hello HTTP/1.1\r\n${HOST}\r\n\r\n`);
    await expect.poll(() => handled).toBe(3);
    await expect.poll(open).toBeLessThanOrEqual(before + crowd.sockets.length); // plus the client ends
  });
});

/** Opens connections that send this, and read nothing. */
async function openMany(port: number, count: number, sent: string | Uint8Array) {
  const open = () =>
    new Promise<Socket>(resolve => {
      const socket: Socket = connect(port, '127.0.0.1', () => socket.write(sent, () => resolve(socket)));
      socket.pause().on('error', () => resolve(socket));
    });
  const sockets = await Promise.all(Array.from({ length: count }, open));
  return {
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Sends one byte every 10 ms after the head, forever. */
function drip(port: number, head: string): Promise<string> {
  return new Promise(resolve => {
    let answer = '';
    let timer: NodeJS.Timeout | undefined;
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      timer = setInterval(() => socket.write(' '), 10);
    });
    socket.on('data', bytes => {
      answer += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      resolve(answer);
    });
  });
}

describe('large bodies', () => {
  const MiB = 1024 * 1024;
  let server: Watched;
  beforeEach(async () => {
    server = await watchedServer({ maxBody: MiB });
  });
  afterEach(() => server.close());

  it('row 15: refuses an announced length over the limit before reading the body', async () => {
    expect(statusOf(await rawExchange(server.port, post(`Content-Length: ${MiB + 1}`)))).toBe(413);
    expect(server.refusals).toMatchObject([{ status: 413, reason: 'too-large' }]);
  });

  it('row 15: refuses an endless chunked body without using more memory', async () => {
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const answer = await endless(server.port, post('Transfer-Encoding: chunked'), () => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    });
    expect(statusOf(answer)).toBe(413);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(reasons(server)).toEqual(['too-large']);
    expect(peak - before).toBeLessThan(16 * MiB);
  });

  it('row 15: accepts a body of exactly the limit, with a length and in chunks', async () => {
    const body = new Uint8Array(MiB).fill(32);
    const headers = { 'content-type': 'application/json' };
    const whole = await fetch(`${server.url}/echo`, { method: 'POST', headers, body });
    expect(await whole.text()).toBe(`${MiB} bytes`);
    const stream = Readable.toWeb(Readable.from([body.subarray(0, 7), body.subarray(7)]));
    const chunked = await fetch(`${server.url}/echo`, {
      method: 'POST',
      headers,
      body: stream,
      duplex: 'half',
    });
    expect(await chunked.text()).toBe(`${MiB} bytes`);
  });

  it('row 15: a client that sends everything before reading still gets its 413', async () => {
    const body = ' '.repeat(4 * MiB);
    expect(statusOf(await rawExchange(server.port, post(`Content-Length: ${body.length}`), body))).toBe(413);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['ends', socket => socket.end()],
    ['breaks', socket => socket.resetAndDestroy()],
  ])('is reported once when the sender %s in the middle', async (_, leave) => {
    let tell: (denial: object) => void = () => {};
    const refused = new Promise<object>(resolve => {
      tell = resolve;
    });
    await using watched = await watchedServer({
      onRefused: (denial, request) => tell({ ...denial, request }),
      routes: [{ ...echo, serves: leaving(() => leave(socket)) }],
    });
    const socket = connect(watched.port, '127.0.0.1', () => socket.write(post('Content-Length: 10')));
    socket.resume();
    expect(await refused).toMatchObject({ reason: 'aborted', request: { method: 'POST', target: '/echo' } });
  });
});

/** Serves every path, and lets the sender disconnect after its head was read. */
function leaving(leave: () => void): () => boolean {
  return () => {
    setImmediate(leave);
    return true;
  };
}

function endless(port: number, head: string, onDrain: () => void): Promise<string> {
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  return new Promise(resolve => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      pump();
    });
    const pump = () => {
      onDrain();
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', pump).on('error', () => {});
    socket.on('data', bytes => {
      answer += bytes.toString('latin1');
    });
    socket.on('close', () => resolve(answer));
  });
}

describe('an unread body', () => {
  it('is not waited for, and does not become part of the next request', async () => {
    await using server = await watchedServer({ routes: [hello, echo] });
    const answer = await rawExchange(
      server.port,
      `GET /hello HTTP/1.1\r\n${HOST}\r\nContent-Length: 40\r\n\r\nGET /echo`,
    );
    expect(statusOf(answer)).toBe(200);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});
