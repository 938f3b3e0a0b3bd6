import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeClient } from '../../src/http/node-client.js';
import { createAgentClient } from '../../src/http/pooled-client.js';
import { clientContract } from './client.contract.js';
import { answer, pour, startPeer } from './peer.js';

clientContract('on node:http', createNodeClient);
clientContract('on undici’s Agent', createAgentClient);

describe.each([
  ['node:http', createNodeClient],
  ['undici', createAgentClient],
])('connections of %s', (_, create) => {
  it('are kept alive', async () => {
    const client = create();
    await using peer = await startPeer(answer(200, 'ok'));
    for (let i = 0; i < 10; i++) await client.send({ method: 'GET', url: peer.url, read: { maxBytes: 10 } });
    await client.close();
    expect(peer.connections()).toBeLessThan(3);
  });

  it.runIf(create === createNodeClient)(
    'are closed when they are idle, before the server may close them',
    async () => {
      const client = create();
      const server = createServer((_, response) => response.end()).unref();
      server.keepAliveTimeout = 0; // no limit
      const connected = once(server, 'connection');
      await client.send({ method: 'GET', url: await listening(server), read: 'nothing' });
      const [socket] = await connected;
      await once(socket.resume(), 'close');
      await client.close();
    },
  );

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
  ['Agent', 'pooled-client'],
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
        run(process.execPath, [outfile, end, stalled.url, endless.url], { timeout: 30_000 }),
      ),
    );
    expect(said.map(({ stdout }) => stdout)).toEqual(['200,200\n', '200,200\n']);
  });

  it('loads undici only if it is used', () => {
    expect(inputs.some(path => path.includes('undici'))).toBe(kind === 'Agent');
  });
});
