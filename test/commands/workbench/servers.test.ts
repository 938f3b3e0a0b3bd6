import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Consent } from '../../../src/commands/consent.js';
import { shellWord } from '../../../src/util/shell-word.js';
import { eventually } from '../../e2e/support/eventually.js';
import { type Folder, temporaryFolder } from '../../e2e/support/folder.js';
import { type Peer, peerCommand, startPeer } from '../../e2e/support/peers.js';
import { startServing } from '../../support/serving.js';
import { startEngine } from './start-engine.js';

let plain: Peer;
let stdlib: Peer;

beforeAll(async () => {
  [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
});

afterAll(() => Promise.all([plain.stop(), stdlib.stop()]));

test('the user opens a URL, or the demo; anything else is an error', async () => {
  await using engine = startEngine();
  expect(engine.controls.open(`:${plain.port}`)).toHaveProperty('server');
  expect(engine.controls.open('demo')).toHaveProperty('server');
  const [url, demo] = engine.model.servers.map(({ id }) => id);
  expect(await engine.stands(url ?? '', 'ready')).toMatchObject({ base: `http://127.0.0.1:${plain.port}` });
  const { toolset } = await engine.stands(demo ?? '', 'ready');
  expect(toolset.tools.map(({ name }) => name)).toContain('edit_file');
  for (const word of ['', 'nonsense', 'ftp://a', 'http://u:p@a'])
    expect(engine.controls.open(word)).toMatchObject({ isBad: true });
  expect(engine.controls.open(`:${plain.port}`)).toHaveProperty('server');
  expect(engine.model.servers).toHaveLength(2);
});

test('a failed server shows the reason, and can be retried', async () => {
  await using broken = await startServing(500, (response, { url }) =>
    response.end(JSON.stringify({ name: 'late', endpoint: url, tools: [] })),
  );
  await using engine = startEngine();
  const id = engine.open({ kind: 'url', url: broken.url });
  expect((await engine.stands(id, 'failed')).message).toContain('no discovery document');
  engine.controls.load(id);
  await eventually('the invalid toolset', () => {
    const state = engine.model.servers[0]?.state;
    return state?.kind === 'failed' && state.faults.length > 0;
  });
});

test('only a failed server can be removed; its id is not used again', async () => {
  await using engine = startEngine();
  const [gone, ready] = [
    engine.open({ kind: 'url', url: 'http://127.0.0.1:1' }),
    engine.open({ kind: 'demo' }),
  ];
  await Promise.all([engine.stands(gone, 'failed'), engine.stands(ready, 'ready')]);
  for (const id of [gone, ready, 'no one']) engine.controls.remove(id);
  expect(engine.model.servers.map(({ id }) => id)).toEqual([ready]);
  expect([gone, ready]).not.toContain(engine.open({ kind: 'url', url: plain.url }));
});

describe('recent servers', () => {
  const open = async (home: string, env = {}, headers = {}) => {
    const engine = startEngine({ home, env, headers });
    await engine.ready(plain.url);
    await engine.close();
  };
  const kept = (folder: Folder, name = '.local/state/protocol-cli/recent.json') =>
    readFile(folder.file(name), 'utf8').catch(() => null);

  test('at most five, the latest first, in a private file; a link is replaced, not followed', async () => {
    await using home = await temporaryFolder();
    const folder = home.file('.local/state/protocol-cli');
    await mkdir(folder, { recursive: true });
    const old = [1, 2, 3, 4].map(port => `http://u:canary@old.example:${port}/?key=canary#canary`);
    await writeFile(join(folder, 'recent.json'), JSON.stringify(['file:///etc', 7, ...old, plain.url]));
    await open(home.path);
    expect(JSON.parse((await kept(home)) ?? '')).toEqual([
      plain.url,
      ...[1, 2, 3, 4].map(port => `http://old.example:${port}`),
    ]);
    const victim = await home.write('victim', 'mine');
    await rm(join(folder, 'recent.json'));
    await symlink(victim, join(folder, 'recent.json'));
    await open(home.path);
    expect(await readFile(victim, 'utf8')).toBe('mine');
    expect(await kept(home)).toBe(`["${plain.url}"]\n`);
    expect((await lstat(join(folder, 'recent.json'))).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['not a list', '{"__proto__":["http://a"]}'],
    ['deep', '['.repeat(200)],
    ['large', `["${'x'.repeat(20_000)}"]`],
  ])('a file that is %s is ignored', async (_, text) => {
    await using state = await temporaryFolder();
    await mkdir(state.file('protocol-cli'));
    await writeFile(state.file('protocol-cli/recent.json'), text);
    await using engine = startEngine({ env: { XDG_STATE_HOME: state.path } });
    await engine.ready(plain.url);
    expect(engine.model.recent.filter(url => url !== plain.url)).toEqual([]);
  });

  test('nothing is written where that is impossible, for the demo, or for a URL with a known secret', async () => {
    await using home = await temporaryFolder();
    await home.write('file', '');
    await open(home.file('missing'));
    await open(home.path, { XDG_STATE_HOME: home.file('file') });
    await open(home.path, {}, { authorization: `Bearer ${plain.port}` });
    await using engine = startEngine({ home: home.path });
    await engine.stands(engine.open({ kind: 'demo' }), 'ready');
    await engine.close();
    expect(await readdir(home.path)).toEqual(['file']);
  });
});

test('removing a server also stops a command that runs but is not a tool', async () => {
  const engine = startEngine();
  const server = 'require("node:http").createServer((_, r) => r.writeHead(404).end())';
  const started = `${server}.listen(0, function () { console.log(JSON.stringify({ port: this.address().port })) })`;
  engine.offer({ kind: 'command', command: `node -e ${shellWord(started, 'linux')}` });
  const id = engine.model.servers[0]?.id ?? '';
  engine.controls.load(id);
  const { message } = await engine.stands(id, 'failed');
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(message) ?? [];
  expect((await fetch(url)).status).toBe(404);
  engine.controls.remove(id);
  await engine.close();
  await expect(fetch(url)).rejects.toThrow();
});

describe('a configured server', () => {
  test('that is a command starts only after the user allows it; after an exit it can be started again', async () => {
    await using engine = startEngine();
    const command = peerCommand('plain');
    engine.offer({ kind: 'command', command });
    const id = engine.model.servers[0]?.id ?? '';
    expect(engine.model.servers[0]?.state).toEqual({ kind: 'unstarted', command });
    const refused = await engine.controls.run(
      { server: id, operation: 'echo', arguments: {} },
      { validates: true },
    );
    expect(refused).toEqual({ kind: 'refused', reason: 'its server is not ready' });
    engine.controls.load(id);
    await engine.stands(id, 'ready');
    const key = await engine.call(id, 'echo', { text: 'started' });
    expect((await engine.until(key)).settled).toMatchObject({ by: 'result' });
  });

  test('RT-TOOLSET: two that define the same operation are not used for it; one opened by hand is', async () => {
    await using other = await startPeer('plain');
    await using engine = startEngine();
    for (const { url } of [plain, other]) engine.offer({ kind: 'url', url });
    const [one = '', two = ''] = engine.model.servers.map(({ id }) => id);
    await Promise.all([engine.stands(one, 'ready'), engine.stands(two, 'ready')]);
    const draft = { operation: 'echo', arguments: { text: 'a' } };
    for (const server of [one, two])
      expect(await engine.controls.run({ server, ...draft }, { validates: true })).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('RT-TOOLSET'),
      });
    engine.controls.open(plain.url);
    const third = engine.model.servers[2]?.id ?? '';
    await engine.stands(third, 'ready');
    expect(await engine.controls.run({ server: third, ...draft }, { validates: true })).toMatchObject({
      kind: 'sent',
    });
  });
});

test('an operation that one toolset marks destructive is destructive in all toolsets of the endpoint', async () => {
  const tool = (name: string) => ({ name, description: 'harmless', inputSchema: { type: 'object' } });
  await using other = await startServing(response =>
    response.end(
      JSON.stringify({
        name: 'other',
        endpoint: `${stdlib.url}/invoke`,
        tools: [tool('delete_all'), tool('echo')],
      }),
    ),
  );
  await using engine = startEngine();
  const one = await engine.ready(other.url);
  engine.controls.open(stdlib.url);
  const two = engine.model.servers[1]?.id ?? '';
  expect((await engine.stands(two, 'ready')).toolset.endpoint).toBe(`${stdlib.url}/invoke`);
  expect(engine.controls.needsConsent(one, 'delete_all')).toBe(true);
  expect(engine.controls.needsConsent(one, 'echo')).toBe(false);
  const draft = { operation: 'delete_all', arguments: {} };
  expect(await engine.controls.run({ server: one, ...draft }, { validates: true })).toMatchObject({
    kind: 'refused',
  });
  await engine.controls.decline({ server: two, ...draft });
  const [key = ''] = engine.model.sources[0]?.callLog.keys ?? [];
  expect([engine.model.serverOf(key), engine.model.serverOf('no call')]).toEqual([two, null]);
});

test('row 12: headers go only to the server they were given for', async () => {
  await using named = await startPeer('plain');
  await using engine = startEngine({ headers: { 'x-key': 'canary' } });
  const id = engine.open({ kind: 'url', url: named.url });
  engine.controls.open(plain.url);
  await engine.stands(id, 'ready');
  const other = engine.model.servers[1]?.id ?? '';
  await engine.stands(other, 'ready');
  for (const server of [id, other]) await engine.until(await engine.call(server, 'echo', { text: 'x' }));
  const keys = async (peer: Peer) =>
    (await peer.log()).filter(({ what }) => what === 'invocation').map(({ headers }) => headers['x-key']);
  expect(await keys(named)).toEqual(['canary']);
  expect(await keys(plain)).not.toContain('canary');
});

describe('a policy', () => {
  test('denies before anything is sent, and the denial is recorded', async () => {
    const policy = { version: 1 as const, deny: [{ name: 'echo', reason: 'not today' }] };
    await using engine = startEngine({ consent: new Consent(policy, false) });
    const server = await engine.ready(plain.url);
    const draft = { server, operation: 'echo', arguments: { text: 7 } }; // violates its inputSchema, too
    expect(await engine.controls.run(draft, { validates: true })).toEqual({
      kind: 'refused',
      reason: 'not today',
    });
    const [exchange] = engine.model.sources[0]?.callLog.history.exchanges.values() ?? [];
    expect(exchange?.settled).toMatchObject({ by: 'denial', who: 'policy' });
    expect(exchange?.attempts).toEqual([]);
  });

  test.each([
    ['asks before a destructive call', false, null, true],
    ['--yes does not ask', true, null, false],
    [
      'a policy that names the tool does not ask',
      false,
      { version: 1 as const, allow: ['delete_all'] },
      false,
    ],
    ['a denied call does not ask', false, { version: 1 as const, deny: ['delete_all'] }, false],
  ])('%s', async (_, yes, policy, asks) => {
    await using engine = startEngine({ consent: new Consent(policy, yes) });
    const server = await engine.ready(stdlib.url);
    expect(engine.controls.needsConsent(server, 'delete_all')).toBe(asks);
    expect(engine.controls.needsConsent(server, 'echo')).toBe(false);
  });

  test('refuses destructive calls without consent, and records a no', async () => {
    await using engine = startEngine();
    const server = await engine.ready(stdlib.url);
    const draft = { server, operation: 'delete_all', arguments: {} };
    const exchanges = () => [...(engine.model.sources[0]?.callLog.history.exchanges.values() ?? [])];
    expect(await engine.controls.run(draft, { validates: false })).toEqual({
      kind: 'refused',
      reason: 'it is marked destructive and was not confirmed',
    });
    expect(exchanges()).toEqual([]);
    expect(await engine.controls.decline(draft)).toMatchObject({ isBad: false });
    expect(exchanges().map(({ settled }) => settled)).toMatchObject([{ by: 'denial', who: 'person' }]);
    expect(exchanges()[0]?.attempts).toEqual([]);
    const sent = await engine.controls.run(draft, { validates: false, isAgreed: true });
    expect(sent).toMatchObject({ kind: 'sent' });
  });
});
