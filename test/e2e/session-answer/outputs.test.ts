import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedSchema } from '../../support/published-schema.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { type Peer, startPeer } from '../support/peers.js';
import { answer, pendingCall as call, KEY } from '../support/session-answer.js';
import { startSessionMockHere } from '../support/session-mock.js';
import { type Script, startPlatform } from '../support/session-platform.js';
import { success } from '../support/session-wire.js';

/** What agent sessions leave behind, as data: it fits what the package publishes, and `render` reads it. */
const report = publishedSchema('session-report');
const transcript = publishedSchema('transcript');

let folder: Folder;
let tool: Peer;
beforeAll(async () => {
  [folder, tool] = await Promise.all([temporaryFolder(), startPeer('plain')]);
});
afterAll(async () => {
  await tool.stop();
  await folder[Symbol.asyncDispose]();
});

const ECHO = call('echo', { text: 'one' }, 'a');
const ROUNDS = [{ calls: [ECHO, call('fail', {}, null), call('nope', { deep: [{}] }, 'c')] }];

describe.concurrent('-o json and --save fit the published schemas', () => {
  it.each<[string, Script, number, object]>([
    [
      'three calls',
      { rounds: ROUNDS, end: { answer: { n: 1 } } },
      0,
      { session: { id: 'session_1', status: 'completed', answer: { n: 1 } } },
    ],
    [
      'failed',
      { rounds: ROUNDS, end: { status: 'failed', error: 'no money' } },
      5,
      { session: { status: 'failed' } },
    ],
    ['nothing to do', { rounds: [] }, 0, { session: { status: 'completed' }, calls: [] }],
    [
      'over before the post',
      { rounds: ROUNDS, posts: { 1: 'end' } },
      5,
      { session: { status: 'interrupted' } },
    ],
    [
      'refused',
      { rounds: ROUNDS, posts: { 1: { status: 403 } } },
      4,
      { error: { code: 'platform-refused' } },
    ],
    ['odd events', { rounds: ROUNDS, events: [{ type: 'X' }, { type: 'Y', data: [] }] }, 0, {}],
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
    const posted = { status: 202 };
    expect(JSON.parse(stdout).calls).toMatchObject([
      {
        key: 'a',
        ...ECHO,
        outcome: { type: 'success' },
        body: { kind: 'tool_result', result: 'one' },
        posted,
      },
      {
        key: '#1',
        tool_name: 'fail',
        id: null,
        outcome: { type: 'error' },
        body: { kind: 'error_event' },
        posted,
      },
      { key: 'c', args: { deep: [{}] }, outcome: { type: 'error' }, body: { kind: 'error_event' }, posted },
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
