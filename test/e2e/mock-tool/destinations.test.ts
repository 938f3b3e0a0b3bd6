import { hostname, networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSink } from '../../peers/callback-sink.mjs';
import { openRuntime, type Runtime } from '../../peers/runtime.mjs';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { type MockHere, startMockHere } from '../support/mock.js';
import { silentServer } from '../support/sockets.js';

/** The mock posts where it may, and says so where it may not: never silently, never by another name. */
const FIXTURES = 'version: 1\nfixtures: [{ match: { operation: a }, reply: { payload: b } }]\n';

let mock: MockHere;
let runtime: Runtime;
beforeAll(async () => {
  await using folder = await temporaryFolder();
  mock = await startMockHere([await folder.write('f.yaml', FIXTURES)]);
  runtime = await openRuntime();
});
afterAll(async () => {
  runtime.close();
  await mock.stop();
});

describe('row 9: a callback URL', () => {
  let count = 0;

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://metadata.google.internal/',
    'http://10.0.0.1/',
    'http://0.0.0.0:PORT/',
    'http://[::]:PORT/',
    'http://localhost.evil.example:PORT/',
    'http://127.0.0.1.evil.example:PORT/',
    'http://127.0.0.1@evil.example/',
    'http://user:pw@127.0.0.1:PORT/',
    'ftp://127.0.0.1:PORT/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '//127.0.0.1:PORT/',
    'not a url',
  ])('%s: acknowledged, refused, reported and in the journal', async written => {
    await using canary = await silentServer();
    const callbackUrl = written.replace('PORT', String(canary.port));
    const id = `refused-${++count}`;
    const call = await runtime.invoke(mock.url, 'a', {}, { id, fields: { callback_url: callbackUrl } });
    expect(call.ack.status).toBe(200);
    const said = await mock.printsToStderr(new RegExp(`✗ a ${id} .*not delivered: .*`));
    expect(said).not.toContain('user:pw');
    const { calls } = await mock.journal();
    const state = calls.find(known => known.id === id)?.state;
    expect(state).toBe('undelivered');
    expect(canary.connections()).toBe(0);
  });

  it.each(['localhost', '127.0.0.1', '127.1', '0x7f000001', '2130706433', 'LOCALHOST', '[::ffff:127.0.0.1]'])(
    'loopback in any notation is allowed: %s',
    async name => {
      await using sink = await openSink(200);
      await runtime.invoke(mock.url, 'a', {}, { callbackUrl: sink.url.replace('127.0.0.1', name) });
      await eventually('the callback', () => sink.requests[0]?.raw);
      expect(sink.requests[0]?.url).toBe('/sink?token=a%2Fb');
    },
  );
});

describe('--allow-callback', () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find(about => about && !about.internal && about.family === 'IPv4')?.address;

  it.skipIf(!outside)('row 9: allows exactly this origin', async () => {
    await using folder = await temporaryFolder();
    await using listed = await silentServer('0.0.0.0');
    await using other = await silentServer('0.0.0.0');
    const origin = `http://${outside}:${listed.port}`;
    const file = await folder.write('f.yaml', FIXTURES);
    await using allowed = await startMockHere([file, '--allow-callback', origin, '--drain', '0']);
    await runtime.invoke(
      allowed.url,
      'a',
      {},
      { id: 'other', callbackUrl: `http://${outside}:${other.port}/` },
    );
    await allowed.printsToStderr(
      new RegExp(
        `✗ a other .*not delivered: http://${outside}:${other.port} is not allowed. Allow it with --allow-callback`,
      ),
    );
    await runtime.invoke(allowed.url, 'a', {}, { id: 'listed', callbackUrl: `${origin}/x` });
    await listed.connected();
    expect(other.connections()).toBe(0);
  });

  it('row 9: a link-local address is refused, even if listed', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('f.yaml', FIXTURES);
    await using allowed = await startMockHere([file, '--allow-callback', 'http://169.254.169.254']);
    await runtime.invoke(allowed.url, 'a', {}, { id: 'meta', callbackUrl: 'http://169.254.169.254/' });
    await allowed.printsToStderr(/✗ a meta .*not delivered: .*169\.254\.169\.254/);
  });

  it.each(['runtime:3000', 'ftp://runtime', 'http://user@runtime', 'http://runtime/path', '*'])(
    '%s is an invalid origin',
    async origin => {
      const { status, stderr } = await runHere(['mock-tool', '--allow-callback', origin]);
      expect(status).toBe(2);
      expect(stderr).toMatch(/is not an origin/);
    },
  );

  it('row 9: a host name of this machine is not loopback', async () => {
    const canary = await silentServer('0.0.0.0');
    await runtime.invoke(
      mock.url,
      'a',
      {},
      { id: 'named', callbackUrl: `http://${hostname()}.:${canary.port}/` },
    );
    await mock.printsToStderr(
      /✗ a named .*not delivered: http:.* is not allowed\. Allow it with --allow-callback/,
    );
    expect(canary.connections()).toBe(0);
    await canary[Symbol.asyncDispose]();
  });
});

it("row 12: nothing of an invocation's headers goes into a callback or a journal", async () => {
  const secrets = {
    authorization: 'Bearer canary-77ab',
    cookie: 'session=canary-77ab',
    'x-api-key': 'canary-77ab',
  };
  const call = await runtime.invoke(mock.url, 'a', {}, { headers: secrets });
  const { headers, raw } = await call.result();
  expect(JSON.stringify(headers) + raw).not.toContain('canary');
  const journal = await fetch(`${mock.url}/__mock__/journal`, {
    headers: { accept: 'application/x-ndjson' },
  });
  expect((await journal.text()) + JSON.stringify(await mock.journal()) + mock.stderr()).not.toContain(
    'canary',
  );
});
