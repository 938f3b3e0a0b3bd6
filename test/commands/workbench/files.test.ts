import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../src/commands/mock-tool/fixtures.js';
import { llmTextOf } from '../../../src/events/exchange.js';
import { startMockTool } from '../../../src/mock/mock-tool.js';
import { type Folder, temporaryFolder } from '../../e2e/support/folder.js';
import { type Peer, startPeer } from '../../e2e/support/peers.js';
import { call, eventsOf, INVOCATION } from '../../events/build.js';
import { type StartedEngine, startEngine, writeTranscript } from './start-engine.js';

const CANARY = 'canary-7f31c0de';

let plain: Peer;
let folder: Folder;
let engine: StartedEngine;
let id: string;
let key: string;
beforeAll(async () => {
  [plain, folder] = await Promise.all([startPeer('plain'), temporaryFolder()]);
  engine = startEngine({ cwd: folder.path, headers: { authorization: `Bearer ${CANARY}` } });
  id = await engine.ready(plain.url);
  key = await engine.call(id, 'edit_file', { path: 'src/main.rs' });
  await engine.until(key);
});
afterAll(async () => {
  await engine.close();
  await Promise.all([plain.stop(), folder[Symbol.asyncDispose]()]);
});

const resultOf = async (of: StartedEngine, call: string) => {
  const { settled } = await of.until(call);
  return settled?.by === 'result' && { text: settled.result.text, display: settled.result.display_as };
};

describe('a fixture', () => {
  test('of a call: a mock that serves it gives the same result', async () => {
    await engine.call(id, 'echo', { text: 'another call' });
    expect(await engine.controls.saveFixture(key, 0, 'one.yaml')).toEqual({
      text: 'wrote one.yaml; serve it: protocol-cli mock-tool one.yaml',
      isBad: false,
    });
    expect(await readFile(folder.file('one.yaml'), 'utf8')).not.toContain('call_id');
    const { fixtures, warnings } = await loadFixtures([folder.file('one.yaml')]);
    expect(warnings).toEqual([]);
    const mock = await startMockTool({ fixtures });
    await using other = startEngine();
    const server = other.open({ kind: 'url', url: mock.url });
    const { toolset } = await other.stands(server, 'ready');
    expect(toolset.tools.map(({ name }) => name)).toEqual(['edit_file']);
    const again = await other.call(server, 'edit_file', { path: 'src/main.rs' });
    expect(await resultOf(other, again)).toEqual(await resultOf(engine, key));
    await mock.close({ drainMs: 0 });
  });

  test('is not written for a pending call', async () => {
    const slow = await engine.call(id, 'slow', { ms: 60_000 });
    expect(await engine.controls.saveFixture(slow, 0, 'slow.yaml')).toMatchObject({ isBad: true });
    await expect(stat(folder.file('slow.yaml'))).rejects.toThrow('ENOENT');
    await engine.controls.cancel(slow);
  });

  test('lists omissions in its first comment, not in the message', async () => {
    const given = await engine.call(id, 'slow', { ms: 60_000 });
    await engine.until(given, ({ attempts }) => attempts[0]?.status === 200);
    await engine.controls.cancel(given);
    expect(await engine.controls.saveFixture(given, 0, 'given-up.yaml')).toEqual({
      text: 'wrote given-up.yaml; omissions are listed at the top of the file; serve it: protocol-cli mock-tool given-up.yaml',
      isBad: false,
    });
    const text = await readFile(folder.file('given-up.yaml'), 'utf8');
    expect(text).toMatch(/^# .*the call was canceled: /m);
  });
});

describe('a transcript', () => {
  test('rows 25 and 26: contains everything but secrets, is readable by its owner only, and opens as another source', async () => {
    expect(await engine.controls.saveTranscript('run.ndjson')).toMatchObject({ isBad: false });
    const text = await readFile(folder.file('run.ndjson'), 'utf8');
    expect(text).not.toContain(CANARY);
    expect((await stat(folder.file('run.ndjson'))).mode & 0o777).toBe(0o600);
    expect(await engine.controls.openTranscript('run.ndjson')).toMatchObject({ isBad: false });
    const [live, opened] = engine.model.sources;
    expect(opened).toMatchObject({ name: 'run.ndjson', isLive: false });
    const saved = opened?.callLog.history.exchanges.get(key);
    expect(saved && llmTextOf(saved)).toBe(llmTextOf(await engine.until(key)));
    expect(live?.isLive).toBe(true);
    const callback = /callback\/([\w-]{40,})/.exec(JSON.stringify(await plain.log()))?.[1] ?? '?';
    expect(text).not.toContain(callback);
    expect(await engine.controls.saveFixture(key, 1, 'from-saved.yaml')).toMatchObject({ isBad: false });
  });

  test.each(['none.ndjson', 'note.txt'])('%s cannot be opened', async name => {
    await folder.write('note.txt', 'a note');
    expect(await engine.controls.openTranscript(name)).toMatchObject({ isBad: true });
  });
});

test('row 25: secrets of an opened transcript are known before it is shown', async () => {
  await using other = startEngine({ cwd: folder.path });
  const events = engine.model.sources[0]?.callLog.events ?? [];
  await writeTranscript(folder.file('raw.ndjson'), [...events], engine.about);
  const raw = await readFile(folder.file('raw.ndjson'), 'utf8');
  const token = /callback\/([\w-]{40,})/.exec(raw)?.[1] ?? '?';
  const shown: string[] = [];
  other.onModelChange(() => void shown.push(other.model.sources[1]?.redactor.text(`it is ${token}`) ?? ''));
  await other.controls.openTranscript('raw.ndjson');
  expect(shown).toEqual(['it is [redacted]']);
  expect(other.controls.asCurl(key, 1)?.text).not.toContain(token);
});

test('row 25: secrets of an opened transcript are not redacted in this session', async () => {
  await using other = startEngine({ cwd: folder.path, headers: { 'x-key': CANARY } });
  const invocation = { ...INVOCATION, callback_url: `http://127.0.0.1:9/edit_file/main.rs.backup` };
  const facts = eventsOf(call({ invocation }));
  await writeTranscript(folder.file('foreign.ndjson'), facts, engine.about);
  await other.controls.openTranscript('foreign.ndjson');
  const [live, foreign] = other.model.sources;
  expect(foreign?.redactor.text(`edit_file ${CANARY}`)).toBe('[redacted] [redacted]');
  expect(live?.redactor.text(`edit_file ${CANARY}`)).toBe('edit_file [redacted]');
  const server = await other.ready(plain.url);
  const own = await other.call(server, 'edit_file', { path: 'src/main.rs' });
  await other.until(own);
  expect((await other.controls.asCommand(own, 0)).text).toContain('edit_file path=src/main.rs');
  await other.controls.saveTranscript('own.ndjson');
  expect(await readFile(folder.file('own.ndjson'), 'utf8')).toContain('edit_file');
  expect(await other.controls.saveFixture(own, 0, 'own.yaml')).toMatchObject({ isBad: false });
  expect(await readFile(folder.file('own.yaml'), 'utf8')).toContain('name: edit_file');
});

test('row 25: no command line is copied if the server is named by a secret', async () => {
  const { port } = new URL(plain.url);
  await using other = startEngine({ headers: { 'x-key': CANARY } });
  const server = other.open({ kind: 'url', url: `http://127.0.0.1:${port}/?key=${CANARY}` });
  await other.stands(server, 'ready');
  const call = await other.call(server, 'echo', { text: 'hi' });
  await other.until(call);
  expect(other.controls.asCurl(call, 0)?.text).toContain('curl');
  expect(await other.controls.asCommand(call, 0)).toEqual({
    text: 'no line of this program is the same call: a secret is in the name of its server',
    isBad: true,
  });
});

describe('a path that ends in a slash is a folder', () => {
  test('that must exist', async () => {
    for (const said of [
      await engine.controls.saveTranscript('newdir/'),
      await engine.controls.saveFixture(key, 0, 'newdir/'),
    ])
      expect(said).toEqual({ text: 'no folder newdir/', isBad: true });
    await expect(stat(folder.file('newdir'))).rejects.toThrow('ENOENT');
  });

  test('row 27: the file gets the offered name, and replaces no other file', async () => {
    await mkdir(folder.file('runs'));
    const said = [
      await engine.controls.saveTranscript('runs/'),
      await engine.controls.saveTranscript('runs/'),
      await engine.controls.saveFixture(key, 0, 'runs/'),
    ];
    expect(said.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^wrote runs\/session\.ndjson: \d+ events$/),
      expect.stringMatching(/^wrote runs\/session-2\.ndjson: \d+ events$/),
      'wrote runs/edit_file.yaml; serve it: protocol-cli mock-tool runs/edit_file.yaml',
    ]);
    expect((await readdir(folder.file('runs'))).sort()).toEqual([
      'edit_file.yaml',
      'session-2.ndjson',
      'session.ndjson',
    ]);
  });
});

test('row 27: no file is replaced', async () => {
  await folder.write('mine', 'mine');
  for (const said of [
    await engine.controls.saveTranscript('mine'),
    await engine.controls.saveFixture(key, 0, 'mine'),
  ])
    expect(said.text).toContain('already exists');
  expect(await readFile(folder.file('mine'), 'utf8')).toBe('mine');
});

test('row 25: the curl command and the command line contain placeholders instead of secrets', async () => {
  const { text: curl = '', gaps } = engine.controls.asCurl(key, 0) ?? {};
  expect(curl).toContain("-H 'authorization: [redacted]'");
  expect(curl).toContain('"path":"src/main.rs"');
  expect(gaps).toEqual(['callback_url', 'authorization']);
  const line = `protocol-cli invoke -H 'authorization: [redacted]' ${plain.url} edit_file path=src/main.rs`;
  expect(await engine.controls.asCommand(key, 0)).toEqual({ text: line, gaps: ['authorization'] });
  expect(await engine.controls.asCommand('no call', 0)).toMatchObject({ isBad: true });
  expect(curl).not.toContain(CANARY);
});

/** Returns the body that a shell passes to curl. */
function bodyOf(curl = ''): Record<string, unknown> {
  const script = curl.replace(/^curl/, 'printf "%s\\0"');
  return JSON.parse(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').at(-2) ?? '');
}

describe('as curl it is a new call', () => {
  const bodyNow = (of: StartedEngine, call: string, source = 0) =>
    bodyOf(of.controls.asCurl(call, source)?.text);

  test('with new ids, and a placeholder for the callback URL', async () => {
    const { invocation } = await engine.until(key);
    const body = bodyNow(engine, key);
    expect(body).toMatchObject({
      operation: 'edit_file',
      arguments: invocation.arguments,
      id: expect.stringMatching(/^call_[-\da-f]{36}$/),
      call_id: null,
      group_id: expect.stringMatching(/^thread_[-\da-f]{36}$/),
      callback_url: 'https://your-callback.example/',
    });
    expect([body['id'], body['group_id']]).not.toContain(invocation.id);
    expect(body['group_id']).not.toBe(invocation.group_id);
    expect(bodyNow(engine, key)['id']).not.toBe(body['id']);
  });
});

test('OSC 52: copies text in base64, 100 KB at most', () => {
  expect(engine.controls.copy('a\u001b\u0007ü')).toMatchObject({ isBad: false });
  const output = engine.output();
  expect([output.slice(0, 7), output.at(-1)]).toEqual(['\u001b]52;c;', '\u0007']);
  expect(Buffer.from(output.slice(7, -1), 'base64').toString()).toBe('a\u001b\u0007ü');
  expect(engine.controls.copy('x'.repeat(100_001))).toMatchObject({ isBad: true });
  expect(engine.output()).toBe(output);
});

test.each([
  ['a', ['a.ndjson', 'ab.yaml']],
  ['runs/', ['runs/1.ndjson']],
  ['./runs/1', ['./runs/1.ndjson']],
  ['linked', ['linked/']],
  ['../home/', ['../home/mine']],
  ['~/', ['~/mine']],
  ['~/.', ['~/.hidden/']],
  ['none/', []],
])('the path %s is completed to %j', async (typed, paths) => {
  await using tree = await temporaryFolder();
  for (const name of ['here/runs', 'home/.hidden']) await mkdir(tree.file(name), { recursive: true });
  for (const name of [
    'here/a.ndjson',
    'here/ab.yaml',
    'here/runs/1.ndjson',
    'here/x\u001b.yaml',
    'home/mine',
  ])
    await tree.write(name, '');
  await symlink(tree.file('here/runs'), tree.file('here/linked'));
  await using other = startEngine({ cwd: tree.file('here'), home: tree.file('home') });
  expect(await other.controls.paths(typed)).toEqual(paths);
});
