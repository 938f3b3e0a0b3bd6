import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { guardedFetch } from '../../src/http/guarded-fetch.js';
import { createNodeClient } from '../../src/http/node-client.js';
import { createPooledClient } from '../../src/http/pooled-client.js';
import { clientContract } from './client.contract.js';
import { answer, pour, startPeer } from './peer.js';

clientContract('on node:http', createNodeClient);
clientContract('on undici’s Agent', createPooledClient);

it('the client on undici keeps its connections alive', async () => {
  const client = createPooledClient();
  await using peer = await startPeer(answer(200, 'ok'));
  for (let i = 0; i < 10; i++) await client.send({ method: 'GET', url: peer.url, read: { maxBytes: 10 } });
  await client.close();
  expect(peer.connections()).toBeLessThan(3);
});

describe.each([
  ['node:http', createNodeClient],
  ['undici', createPooledClient],
])('connections of %s', (_, create) => {
  it('that the server closed during a long computation are not used again', async () => {
    const client = create();
    const server = createServer((_, response) => response.end()).unref();
    const connected = once(server, 'connection');
    const request = { method: 'POST', url: await listening(server), read: 'nothing' } as const;
    await client.send(request);
    const [socket] = await connected;
    await new Promise(setImmediate); // the connection is idle
    socket.destroy();
    for (const end = performance.now() + 1_100; performance.now() < end; );
    expect(await client.send(request)).toMatchObject({ status: 200 });
    await client.close();
  });

  it('carry a body that the server reads only after acknowledging', async () => {
    const client = create();
    const server = createServer();
    const received = acknowledgeFirst(server);
    await client.send({
      method: 'POST',
      url: await listening(server),
      body: Buffer.from('{"a":1}'),
      read: 'nothing',
    });
    expect(await received).toBe('{"a":1}');
    await client.close();
    server.close();
  });
});

describe('the client on node:http', () => {
  const post = (url: string, bytes: number) =>
    ({
      method: 'POST',
      url,
      body: Buffer.alloc(bytes, 'x'),
      read: { maxBytes: 1_000 },
      isRepeatable: true,
    }) as const;

  it('reads the answer of a server that answers and closes before it has read the body', async () => {
    const script = `
      const early = ${JSON.stringify(answer(413, 'too large', 'Connection: close'))};
      const server = require('node:net').createServer(socket => {
        socket.on('error', () => {}).once('data', () => socket.write(early, () => socket.destroy()));
      });
      server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
    const server = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const client = createNodeClient();
    try {
      const [port] = await once(server.stdout, 'data');
      for (let i = 0; i < 20; i++) {
        const { status, body } = await client.send(post(`http://127.0.0.1:${Number(port)}/`, 5_000_000));
        expect([status, Buffer.from(body).toString()]).toEqual([413, 'too large']);
      }
    } finally {
      server.kill();
      await client.close();
    }
  });

  it('has a connection of its own for each request, which a server may close without a word', async () => {
    const client = createNodeClient();
    await using peer = await startPeer(socket => {
      socket.write(answer(200, ''), () => setImmediate(() => socket.resetAndDestroy()));
    });
    for (let i = 0; i < 100; i++) expect(await client.send(post(peer.url, 1))).toMatchObject({ status: 200 });
    expect(peer.connections()).toBe(100);
    await client.close();
  });
});

/** Returns the body, read by a server that has already answered. */
function acknowledgeFirst(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('request', (request, response) => {
      response.end(() => text(request).then(resolve, reject));
    });
  });
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
}

const run = promisify(execFile);

describe.each([
  ['Node', 'node-client'],
  ['Pooled', 'pooled-client'],
])('a process with the %s client', (kind, file) => {
  const script = `
    import { create${kind}Client as create } from './src/http/${file}.js';
    const [, , end, ...urls] = process.argv;
    const client = create();
    Promise.all(urls.map(url => client.send({ method: 'GET', url, read: 'nothing' }))).then(answers => {
      console.log(answers.map(({ status }) => status).join());
      if (end === 'close') client.close();
    });`;
  let folder: string;
  let outfile: string;
  let inputs: string[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-'));
    outfile = join(folder, 'client.cjs');
    const stdin = { contents: script, resolveDir: process.cwd(), loader: 'ts' as const };
    const { metafile } = await build({
      stdin,
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      metafile: true,
    });
    inputs = Object.keys(metafile.inputs);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('row 16: exits despite acknowledgements that never end, closed or not', async () => {
    await using stalled = await startPeer('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx');
    await using endless = await startPeer(socket => void pour(socket));
    const said = await Promise.all(
      ['close', 'open'].map(end =>
        run(process.execPath, [outfile, end, stalled.url, endless.url], { timeout: 150_000 }),
      ),
    );
    expect(said.map(({ stdout }) => stdout)).toEqual(['200,200\n', '200,200\n']);
  });

  it('loads undici only if it is used', () => {
    expect(inputs.some(path => path.includes('undici'))).toBe(kind === 'Pooled');
  });
});

describe('the guarded fetch', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  function serving(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    ends.push(() => server.close().closeAllConnections());
    return listening(server);
  }

  function fetching() {
    const { fetch, close } = guardedFetch({ maxBytes: 1_000 });
    ends.unshift(close);
    return fetch;
  }

  it('sends the request as given, and returns the response', async () => {
    const url = await serving(async (request, response) => {
      for await (const chunk of request) response.write(chunk);
      response.end(request.headers['x-key']);
    });
    const answer = await fetching()(url, { method: 'POST', headers: { 'x-key': 'k' }, body: 'body' });
    expect([answer.status, await answer.text()]).toEqual([200, 'bodyk']);
  });

  it('does not follow redirects', async () => {
    const url = await serving((_, response) => void response.writeHead(302, { location: '/there' }).end());
    const answer = await fetching()(url);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/there']);
  });

  it('fails for a body over the limit', async () => {
    const url = await serving((_, response) => void response.end('x'.repeat(2_000)));
    const answer = await fetching()(url);
    await expect(answer.text()).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  it.each([
    ['http://169.254.169.254/', 'REFUSED_ADDRESS'],
    ['file:///etc/passwd', 'BAD_URL'],
    ['http://127.0.0.1:1024/', 'ECONNREFUSED'],
  ])('refuses %s: %s', async (url, code) => {
    await expect(fetching()(url)).rejects.toMatchObject({ name: 'TransportError', code });
  });
});
