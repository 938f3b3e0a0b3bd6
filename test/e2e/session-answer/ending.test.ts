import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedSchema } from '../../support/published-schema.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { fieldOf, type Peer, startPeer } from '../support/peers.js';
import {
  answer,
  answerWith,
  pendingCall as call,
  KEY,
  startAnswer,
  startAnswerHere,
} from '../support/session-answer.js';
import { startSessionMockHere } from '../support/session-mock.js';
import { type Script, startPlatform } from '../support/session-platform.js';
import { success } from '../support/session-wire.js';
import { closedPort } from '../support/sockets.js';
import { STACK_LINE } from '../support/text.js';

/** How `session answer` ends, and what it keeps to itself. */
const FIXTURES =
  'version: 1\nfixtures: [{ match: { operation: lookup_order }, reply: { payload: shipped } }]\n';
const ROUNDS = [{ calls: [call('lookup_order', {}, 'a')] }];

let folder: Folder;
let local: string[];
beforeAll(async () => {
  folder = await temporaryFolder();
  local = ['--fixtures', await folder.write('fixtures.yaml', FIXTURES), '-o', 'plain'];
});
afterAll(() => folder[Symbol.asyncDispose]());

describe.concurrent('exit status', () => {
  it.each<[string, Script, number]>([
    ['idle', { end: { status: 'idle', answer: 'and now?' } }, 0],
    ['failed', { end: { status: 'failed', error: 'out of money' } }, 5],
    ['timed_out', { end: { status: 'timed_out' } }, 5],
    ['interrupted', { end: { status: 'interrupted' } }, 5],
    ['over before anything was asked', { rounds: [] }, 0],
  ])('session %s', async (_, script, status) => {
    await using platform = await startPlatform({ key: KEY, rounds: ROUNDS, ...script });
    const ended = await answer(platform, local);
    expect(ended.status, ended.stderr).toBe(status);
    if (JSON.stringify(script).includes('money'))
      expect(ended.stdout + ended.stderr).toContain('out of money');
    expect(ended.stderr).not.toMatch(STACK_LINE);
  });

  it('4: the key is refused, with a hint', async () => {
    await using platform = await startPlatform({ key: 'another' });
    const { status, stderr } = await answer(platform, local);
    expect([status, stderr]).toEqual([4, expect.stringMatching(/^error: .*401.*\nhint: .*key/m)]);
    expect(await platform.log()).toHaveLength(1);
  });

  it('4: an unknown session', async () => {
    await using platform = await startPlatform({ key: KEY });
    const { status, stderr } = await answerWith([platform.url, 'another', ...local], {
      env: { API_KEY: KEY },
    });
    expect([status, stderr]).toEqual([
      4,
      expect.stringMatching(/^error: .*404.*Session not found\.\nhint: /m),
    ]);
  });

  it('4: no platform', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const args = [url, 'session_1', ...local.slice(0, 2), '-o', 'json'];
    const { status, stdout, stderr } = await answerWith(args, { env: { API_KEY: KEY } });
    expect([status, stderr]).toEqual([4, expect.stringMatching(new RegExp(`^error: .*${url}`, 'm'))]);
    const report = JSON.parse(stdout);
    expect(publishedSchema('session-report').faultsOf(report)).toEqual([]);
    expect(report).toMatchObject({ session: { id: 'session_1' }, error: { code: 'unreachable' } });
  });

  it.each([
    ['is not JSON', { status: 200, raw: '<html>' }],
    ['is another JSON', { status: 200, raw: '[]' }],
    ['leads elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
  ])('4: the answer %s', async (_, odd) => {
    await using platform = await startPlatform({ key: KEY, gets: Array.from({ length: 20 }, () => odd) });
    const { status, stderr } = await answer(platform, local);
    expect([status, stderr]).toEqual([4, expect.stringMatching(/^error: /m)]);
  });

  it('7: no news within --wait', async () => {
    const unreadable = [{ type: 'NewThing' }];
    await using platform = await startPlatform({
      key: KEY,
      events: unreadable,
      rounds: [{ calls: [{ tool_name: 7, args: {}, id: 'no one can answer this' }] }],
    });
    const { status, stderr } = await answer(platform, [...local, '--wait', '1s']);
    expect([status, stderr]).toEqual([7, expect.stringMatching(/^error: /m)]);
  });

  it('4: a post answered 403 is not repeated', async () => {
    const status = 403;
    const posts = { 1: { status, body: { message: 'no' } } };
    await using platform = await startPlatform({ key: KEY, rounds: ROUNDS, posts });
    const ended = await answer(platform, local);
    expect([ended.status, ended.stderr]).toEqual([
      4,
      expect.stringMatching(new RegExp(`^error: .*${status}`, 'm')),
    ]);
    expect(await platform.posts()).toHaveLength(1);
  });

  it.each([408, 500, 503])(
    '0: a post answered %i is repeated, since its call is still pending',
    async status => {
      const posts = { 1: { status, body: { message: 'not now' } } };
      await using platform = await startPlatform({ key: KEY, rounds: ROUNDS, posts });
      expect(await answer(platform, local)).toMatchObject({ status: 0 });
      expect(await platform.posts()).toMatchObject([
        { status },
        { status: 202 },
        ...(await platform.posts()).slice(2),
      ]);
    },
  );
});

it('HAI_API_KEY is read too', async () => {
  await using platform = await startPlatform({ key: KEY, rounds: ROUNDS });
  const args = [platform.url, 'session_1', ...local];
  expect((await answerWith(args, { env: { HAI_API_KEY: KEY } })).status).toBe(0);
});

describe.concurrent('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s while waiting for news: %i', async (signal, expected) => {
    await using platform = await startPlatform({ key: KEY, rounds: [{ calls: [{ id: 'unreadable' }] }] });
    const { child, ended } = startAnswer(platform, local);
    await eventually('a long poll', async () =>
      (await platform.log()).some(
        ({ url, status }) => url.includes('wait_for_seconds=20') && status === null,
      ),
    );
    child.kill(signal);
    const { status, stderr } = await ended;
    expect(status, stderr).toBe(expected);
    expect(stderr).not.toMatch(STACK_LINE);
  });

  it('while a tool works: the tool is notified, nothing is posted', async () => {
    await using tool = await startPeer('stdlib');
    const calls = [call('work', { ms: 60_000, when_cancelled: 'finish' }, 'w')];
    await using platform = await startPlatform({ key: KEY, rounds: [{ calls }] });
    const { interrupt, ended } = startAnswerHere(platform, ['--tool', tool.url, '-o', 'plain']);
    const invocation = await tool.seen('invocation');
    interrupt();
    expect((await ended).status).toBe(130);
    await tool.seen('cancel_tool_call', entry => fieldOf(entry, 'tool_call_id') === 'w');
    await tool.seen('close_thread', entry => fieldOf(entry, 'thread_id') === fieldOf(invocation, 'group_id'));
    expect(await platform.posts()).toEqual([]);
  });
});

it('without --wait it waits until it is stopped, and then reports what it waited for', async () => {
  await using folder = await temporaryFolder();
  const silent = 'version: 1\nfixtures: [{ match: { operation: work }, reply: { silence: true } }]\n';
  const file = await folder.write('silent.yaml', silent);
  await using platform = await startPlatform({ key: KEY, rounds: [{ calls: [call('work', {}, 'w')] }] });
  const line = ['--fixtures', file, '--timeout', '0', '-o', 'json'];
  const { interrupt, ended } = startAnswerHere(platform, line);
  const asks = async () => (await platform.log()).filter(({ url }) => url.includes('/changes')).length;
  await Promise.race([ended, eventually('a look after the call', async () => (await asks()) > 1)]);
  interrupt();
  const { status, stdout } = await ended;
  expect(status).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'interrupted' } });
});

describe.concurrent('row 25: the key', () => {
  it.each(['plain', 'ndjson'])(
    '-o %s -v --save: is in no output, also if the platform repeats it',
    async output => {
      await using tool = await startPeer('plain');
      const text = `your key ${KEY} is fine`;
      const rounds = [{ calls: [call('echo', { text }, 'a'), call('fail', {}, 'b')] }];
      await using platform = await startPlatform({
        key: KEY,
        rounds,
        posts: { 1: { status: 429, headers: { 'retry-after': '0', 'x-echo': KEY }, body: { detail: text } } },
        end: { answer: text },
      });
      const saved = folder.file(`${output}.ndjson`);
      const args = ['--tool', tool.url, '-o', output, '-v', '--save', saved];
      const { status, stdout, stderr } = await answer(platform, args);
      expect(status, stderr).toBe(0);
      const transcript = await readFile(saved, 'utf8');
      for (const text of [stdout, stderr, transcript]) expect(text).not.toContain(KEY);
      expect(transcript).toContain('"purpose":"tool_results"');
      expect(transcript).toContain('"purpose":"invocation"');
      for (const line of transcript.trimEnd().split('\n')) JSON.parse(line);
      expect((await platform.session()).settled[0]).toMatchObject({ result: text });
    },
  );

  it('is not sent to the tool or to the target of a redirect', async () => {
    await using tool = await startPeer('plain');
    await using platform = await startPlatform({
      key: KEY,
      rounds: [{ calls: [call('echo', { text: 'x' }, 'a')] }],
    });
    expect((await answer(platform, ['--tool', tool.url, '-o', 'plain'])).status).toBe(0);
    expect(JSON.stringify(await tool.log())).not.toContain(KEY);
    await using elsewhere = await startPlatform({});
    const moved = {
      status: 307,
      headers: { location: `${elsewhere.url}/api/v2/sessions/session_1/changes` },
    };
    await using moving = await startPlatform({ key: KEY, gets: Array.from({ length: 20 }, () => moved) });
    expect((await answer(moving, local)).status).toBe(4);
    expect(await elsewhere.log()).toEqual([]);
  });
});

describe('outputs', () => {
  /** What agent sessions leave behind, as data: it fits what the package publishes, and `render` reads it. */
  const report = publishedSchema('session-report');
  const transcript = publishedSchema('transcript');

  let tool: Peer;
  beforeAll(async () => {
    tool = await startPeer('plain');
  });
  afterAll(() => tool.stop());

  const ECHO = call('echo', { text: 'one' }, 'a');
  const ROUNDS = [{ calls: [ECHO, call('fail', {}, null), call('nope', { deep: [{}] }, 'c')] }];

  describe.concurrent('-o json and --save fit the published schemas', () => {
    it.each<[string, Script, number, object]>([
      ['completed', { rounds: ROUNDS, end: { answer: { n: 1 } } }, 0, { session: { answer: { n: 1 } } }],
      ['interrupted', { rounds: ROUNDS, posts: { 1: 'end' } }, 5, { session: { status: 'interrupted' } }],
      [
        'refused',
        { rounds: ROUNDS, posts: { 1: { status: 403 } } },
        4,
        { error: { code: 'platform-refused' } },
      ],
    ])('%s', async (name, script, expected, shape) => {
      await using platform = await startPlatform({ key: KEY, ...script });
      const saved = folder.file(`${name}.ndjson`);
      const args = ['--tool', tool.url, '-o', 'json', '--save', saved];
      const { status, stdout, stderr } = await answer(platform, args);
      expect(status, stderr).toBe(expected);
      const value = JSON.parse(stdout);
      expect(report.faultsOf(value)).toEqual([]);
      expect(value).toMatchObject(shape);
      await expectTranscript(saved);
    });

    it('-o json: each call, its answer, and how the answer was posted', async () => {
      await using platform = await startPlatform({ key: KEY, rounds: ROUNDS });
      const { stdout } = await answer(platform, ['--tool', tool.url, '-o', 'json']);
      const failed = { outcome: { type: 'error' }, body: { kind: 'error_event' }, posted: { status: 202 } };
      expect(JSON.parse(stdout).calls).toMatchObject([
        { key: 'a', ...ECHO, outcome: { type: 'success' }, body: { kind: 'tool_result', result: 'one' } },
        { key: '#1', tool_name: 'fail', id: null, ...failed },
        { key: 'c', args: { deep: [{}] }, ...failed },
      ]);
    });
  });

  describe.concurrent('a transcript', () => {
    it('-o ndjson equals --save, and render shows its calls', async () => {
      await using platform = await startPlatform({ key: KEY, rounds: ROUNDS, end: { answer: 'done' } });
      const saved = folder.file('shown.ndjson');
      const args = ['--tool', tool.url, '-o', 'ndjson', '--save', saved];
      const { stdout } = await answer(platform, args);
      expect(kindsIn(stdout)).toEqual(kindsIn(await readFile(saved, 'utf8')));
      const { status, stdout: shown, stderr } = await runHere(['render', saved]);
      expect(status, stderr).toBe(0);
      for (const says of [/session_1/, /echo/, /fail/, /nope/, /completed/, /done/])
        expect(shown).toMatch(says);
    });

    it('has the messages of the platform too', async () => {
      const saved = folder.file('platform.ndjson');
      await using mock = await startSessionMockHere(['--save', saved, '-o', 'ndjson']);
      const call = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' };
      await mock.known().results({ kind: 'nonsense' });
      expect((await mock.known().results(success(call))).status).toBe(202);
      const { stdout } = await mock.stop();
      await expectTranscript(saved);
      expect(kindsIn(stdout.slice(stdout.indexOf('\n') + 1))).toEqual(kindsIn(await readFile(saved, 'utf8')));
      const { status, stdout: shown, stderr } = await runHere(['render', saved]);
      expect(status, stderr).toBe(0);
      for (const says of [/lookup_order/, /422/, /202/, /completed/]) expect(shown).toMatch(says);
    });
  });

  async function expectTranscript(path: string): Promise<void> {
    const lines = linesIn(await readFile(path, 'utf8'));
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.flatMap(line => transcript.faultsOf(JSON.parse(line)))).toEqual([]);
  }

  function kindsIn(ndjson: string): unknown[] {
    return linesIn(ndjson).map(line => JSON.parse(line).kind);
  }

  function linesIn(ndjson: string): string[] {
    return ndjson.split('\n').filter(line => line !== '');
  }
});
